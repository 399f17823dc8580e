"""Loops that look for something without waiting end, with every library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, tried

WAYS = (
    *("test", "testany", "testall", "testsome", "status", "iprobe", "improbe", "parrived"),
    *("collective", "win-test", "win-flag", "win-flush", "win-sleep", "win-clock", "variable"),
)
MARKS = {
    ("mpich", "improbe"): [],
    ("mpich", "win-sleep"): [],
    ("intel", "win-test"): [],
    # The wrappers for its handles are compiled first.
    ("openmpi", "parrived"): [pytest.mark.slow],
}
"""Of one way of each library; the others are tried in full."""
SENT_US = 50
"""When the other rank sends what is looked for."""
MOST_US = 1500
VENDORS = ("mpich", "intel", "openmpi")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("vendor", "way"),
    [
        pytest.param(vendor, way, marks=MARKS.get((vendor, way), [pytest.mark.full]))
        for vendor in VENDORS
        for way in WAYS
    ],
)
def test_looks_end_when_it_is_there(vendor: str, way: str, programs: Path) -> None:
    if vendor != "openmpi" and way == "win-clock":
        pytest.skip("a target has to call MPI")
    program = built(vendor, "polls", programs)
    outcome = tried("altix-bx2", vendor, 2, program, way, options="--placement 2x1")
    assert outcome.exit_code == 0, outcome.stderr
    looked, got = outcome.stdout.splitlines()
    match = re.fullmatch(r"(\d+) looks until (\d\.\d+)", looked)
    assert match, looked
    assert got == "got 1"
    # Each look takes a moment, some up to two microseconds.
    assert int(match[1]) > SENT_US / 2
    assert SENT_US < float(match[2]) * 1e6 < MOST_US


@pytest.mark.full
def test_ranks_that_look_for_nothing_end(programs: Path) -> None:
    program = built("mpich", "polls", programs)
    outcome = tried("altix-bx2", "mpich", 2, program, "never", timeout_s=400.0)
    assert outcome.exit_code == 1
    assert re.search("deadlock: rank 0 waits in MPI_Iprobe .* every rank", outcome.stderr)


def test_the_clock_may_be_read_before_time_begins(programs: Path) -> None:
    outcome = tried("altix-bx2", "mpich", 2, built("mpich", "polls", programs), "test", "early")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.splitlines()[:2] == ["0.000000010"] * 2
