"""Launches that take long are announced before they begin, whatever is known of their rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from nhalf.measure.loop import progress
from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.probe.subject import Subject
from nhalf.store.run import Run

OPERATIONS = {"S": 1e8, "W": 1e9, "A": 1e11}
KERNEL = {
    "name": "npb-cg", "ranks_min": 1, "sized": False, "axes": [{"name": "class"}],
    "memory_bytes": dict.fromkeys(OPERATIONS, 1.0), "operations": OPERATIONS,
}  # fmt: skip


class Computing:
    """Answers at once that a run of any class took 50 ms."""

    def __init__(self, asked: list[dict[str, str]], timeouts_s: list[float]) -> None:
        self.launch = {"ranks": 2, "clock": {"name": "steady_clock"}, "placement": []}
        self._asked = asked
        self._timeouts_s = timeouts_s

    def send(self, line: str) -> None:
        self._asked.append(dict(part.split("=") for part in line.split()))

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        self._timeouts_s.append(timeout_s)
        return {
            "nhalf": "point", "elapsed_s": 0.2, "batch": 1, "messages_per_round": 1,
            "bytes_per_time": 0, "stop": "precision", "verified": True, "advice": [],
            "samples_s": [0.05] * 3, "id": identity,
        }  # fmt: skip

    def kill(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...


Go = Callable[..., tuple[list[dict[str, str]], list[float]]]


@pytest.fixture
def go(tmp_path: Path) -> Go:
    """Runs a class of the kernel in two launches: what was asked, and for how long it may take."""

    def measure(
        name: str, info: Mapping[str, object] = KERNEL, announces: bool = True, **choices: Any
    ) -> tuple[list[dict[str, str]], list[float]]:
        asked: list[dict[str, str]] = []
        timeouts_s: list[float] = []
        block = Block(patterns=["npb-cg"], ranks=[2], bytes="0", axes={"class": name})
        wanted = {
            "transports": [], "mpi": [], "blocks": [block], "launches": 2, "budget_s": 0.0,
            "precision": 0.1, "options": "", "seed": 1, "timeout_s": 10.0, **choices,
        }  # fmt: skip
        subject = Subject("fake", ("fake",), {"options": [], "patterns": [dict(info)]})
        folder = tmp_path / "run"
        run = Run.open(folder) if folder.exists() else Run.create(folder, {})
        shown = Progress(quiet=True, announces=announces)
        Measuring(
            run, Plan(**wanted), [subject], shown, open_=lambda *_: Computing(asked, timeouts_s)
        ).run()
        return asked, timeouts_s

    return measure


def test_a_small_class_is_tried_and_the_plan_announced(
    go: Go, capfd: pytest.CaptureFixture[str]
) -> None:
    """A trial of 1e8 operations in 50 ms makes three runs of 1e11 take 150 s, a launch 151 s."""
    asked, timeouts_s = go("A")
    assert [one["axis.class"] for one in asked] == ["S", "A", "A"]
    assert asked[0]["id"] == "trial"
    assert asked[0]["samples_max"] == "1"
    assert timeouts_s[1] == pytest.approx(10 + 50 * float(asked[1]["slice_s"]) + 3 * 150)
    assert capfd.readouterr().err == (
        "nhalf: all 2 launches take about 5 min, the longest 3 min\n"
        "nhalf: launch 1 of 2: fake, cg.A on 2 ranks: about 3 min\n"
    )


def test_a_plan_beyond_its_budget_says_what_to_do(
    go: Go, capfd: pytest.CaptureFixture[str]
) -> None:
    go("A", budget_s=60.0)
    assert "longer than --budget 1 min, which leaves launches out: give" in capfd.readouterr().err


def test_a_resumed_run_knows_its_rates(go: Go, capfd: pytest.CaptureFixture[str]) -> None:
    """1e9 operations in 50 ms make 1e11 of them take 5 s."""
    go("W", launches=1)
    capfd.readouterr()
    asked, _ = go("W,A", launches=3)
    assert {one["axis.class"] for one in asked} == {"W", "A"}
    words = capfd.readouterr().err.splitlines()[0]
    assert words == "nhalf: all 3 launches take about 49 s, the longest 16 s"


@pytest.mark.parametrize(
    ("name", "info"),
    [
        ("S", KERNEL),
        ("A", {**KERNEL, "operations": {}}),
        ("A", {**KERNEL, "operations": {"A": 1e11}}),
    ],
)
def test_nothing_is_tried_or_announced_where_it_cannot_be_known(
    go: Go, name: str, info: Mapping[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    asked, timeouts_s = go(name, info)
    assert [one["id"] for one in asked] == ["0", "0"]
    assert timeouts_s[0] == pytest.approx(10 + 50 * float(asked[0]["slice_s"]))
    assert capfd.readouterr().err == ""


def test_a_traced_program_begins_with_what_was_asked_for(
    go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NHALF_TRACE_FOLDER", "traced")
    assert [one["axis.class"] for one in go("A")[0]] == ["A", "A"]


def test_quiet_runs_say_nothing(go: Go, capfd: pytest.CaptureFixture[str]) -> None:
    go("A", announces=False)
    assert capfd.readouterr().err == ""


def test_lines_say_how_much_of_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "INTERVAL_S", 0.001)
    shown = Progress(quiet=True, announces=True)
    text = ""
    with shown.waiting("launch 1 of 1: cg.D", 540):
        while text.count("\n") < 3:
            text += capfd.readouterr().err
    lines = text.splitlines()
    assert lines[0] == "nhalf: launch 1 of 1: cg.D"
    assert lines[1].endswith(" of about 9 min")
