"""Programs of several threads: one of a rank's threads is in MPI at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, in_turn, tried

AT_ONCE = "two threads of a rank are in calls of MPI at once, which is not supported"
BESIDE = "a thread beside the calls of MPI, as a progress thread, polls the network"


@pytest.mark.full
@in_turn("openmpi")
@pytest.mark.parametrize(("way", "line"), [("level", "1"), ("clocks", "1")])
def test_threads_may_take_turns(vendor: str, way: str, line: str, programs: Path) -> None:
    outcome = tried("altix-bx2", vendor, 2, built(vendor, "threads", programs), way)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.splitlines() == [line] * 2


@pytest.mark.full
@pytest.mark.parametrize(
    "vendor", ["mpich", *(pytest.param(name, marks=[pytest.mark.full]) for name in ("intel",))]
)
def test_messages_of_threads_in_turn_repeat_themselves(vendor: str, programs: Path) -> None:
    program = built(vendor, "threads", programs)
    outcomes = [tried("altix-bx2", vendor, 2, program, "in-turn") for _ in range(2)]
    assert [outcome.exit_code for outcome in outcomes] == [0, 0], outcomes[0].stderr
    assert outcomes[0].stdout == outcomes[1].stdout
    assert "wrong" not in outcomes[0].stdout


@pytest.mark.parametrize(
    "vendor",
    ["mpich", *(pytest.param(name, marks=[pytest.mark.full]) for name in ("intel", "openmpi"))],
)
def test_threads_at_once_are_refused(vendor: str, programs: Path) -> None:
    outcome = tried("altix-bx2", vendor, 2, built(vendor, "threads", programs), "at-once")
    assert outcome.exit_code == 3
    assert AT_ONCE in outcome.stderr


@pytest.mark.parametrize(
    ("vendor", "variable"),
    [
        ("mpich", "MPIR_CVAR_ASYNC_PROGRESS"),
        pytest.param("intel", "I_MPI_ASYNC_PROGRESS", marks=[pytest.mark.full]),
    ],
)
def test_progress_threads_are_refused(
    vendor: str, variable: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program computes for a while, so that they come to poll; one that did not is no harm."""
    monkeypatch.setenv(variable, "1")
    outcome = tried("altix-bx2", vendor, 2, built(vendor, "threads", programs), "team")
    assert outcome.exit_code == 3
    assert BESIDE in outcome.stderr


def test_computing_of_threads_counts(programs: Path) -> None:
    """Two threads take 30 and 60 ms; ended ones count as one."""
    program = built("mpich", "threads", programs)
    options = "--computing measured:1"
    outcome = tried("altix-bx2", "mpich", 2, program, "team", options=options)
    assert outcome.exit_code == 0, outcome.stderr
    times_s = [float(line) for line in outcome.stdout.splitlines()]
    assert len(times_s) == 2
    assert all(0.09 <= time_s < 0.2 for time_s in times_s), times_s
