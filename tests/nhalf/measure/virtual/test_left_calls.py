"""Calls that an exception or a jump leaves are over: what comes then is the program's again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, tried


@pytest.mark.parametrize(
    ("vendor", "way"),
    [
        pytest.param("mpich", "jump"),
        pytest.param("mpich", "exception", marks=pytest.mark.full),
        pytest.param("intel", "jump", marks=pytest.mark.full),
        pytest.param("openmpi", "jump", marks=pytest.mark.full),
    ],
)
def test_sleep_computing_and_waits_count_after_a_call_was_left(
    vendor: str, way: str, programs: Path
) -> None:
    program = built(vendor, "leaving", programs)
    outcome = tried("sp2-mpl", vendor, 2, program, way, options="--computing measured:1")
    times = re.findall(r"slept (\S+) s, computed (\S+) s", outcome.stdout)
    assert len(times) == 3, outcome.stdout + outcome.stderr
    for slept_s, computed_s in times:
        assert 0.5 <= float(slept_s) < 0.6
        assert 0.2 <= float(computed_s) < 0.5
    assert outcome.exit_code == 1
    assert "deadlock: rank 0 waits in MPI_Recv for rank 1, tag 5" in outcome.stderr
