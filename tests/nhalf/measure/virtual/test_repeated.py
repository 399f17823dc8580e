"""Equal questions have equal answers, byte for byte, whatever else the host does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, library_of, tried

RUNS, RUNS_MANY = 3, 20
IMB_WORDS = ("Exchange", "Allreduce", "Alltoall", "Barrier", "-msglog", "3:10", "-iter", "10")
BUSY = [sys.executable, "-c", "while True: pass"]


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Programs beside a test that leave it no quiet core."""
    loops = [subprocess.Popen(BUSY) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def check_runs(vendor: str, program: Path, words: Sequence[str], runs: int) -> str:
    """Some runs succeed and print the same, which is returned."""
    outcomes = [tried("altix-bx2", vendor, 5, program, *words) for _ in range(runs)]
    assert {outcome.exit_code for outcome in outcomes} == {0}, outcomes[0].stderr
    (text,) = {outcome.stdout for outcome in outcomes}
    return text


def check_farm(vendor: str, programs: Path, runs: int) -> None:
    text = check_runs(vendor, built(vendor, "farm", programs), (), runs)
    lines = text.splitlines()
    assert sorted(int(line.split()[1]) for line in lines) == list(range(60))
    # Tasks come back in another order than they went.
    assert lines != sorted(lines, key=lambda line: int(line.split()[1]))


def check_imb(vendor: str, runs: int) -> None:
    program = library_of("intel").prefix / "bin/IMB-MPI1"
    text = check_runs(vendor, program, IMB_WORDS, runs)
    assert text.count("# Benchmarking ") >= 4


@pytest.mark.full
def test_who_comes_first_is_the_same_beside_a_busy_loop(programs: Path) -> None:
    with busy_loops(1):
        check_farm("mpich", programs, RUNS)


@pytest.mark.full
def test_imb_prints_the_same_beside_a_busy_loop() -> None:
    with busy_loops(1):
        check_imb("mpich", RUNS)


@pytest.mark.full
@pytest.mark.parametrize("loops", [0, 2])
@pytest.mark.parametrize("vendor", ["mpich", "intel", "openmpi"])
def test_who_comes_first_is_the_same_twenty_times(vendor: str, loops: int, programs: Path) -> None:
    with busy_loops(loops):
        check_farm(vendor, programs, RUNS_MANY)


@pytest.mark.full
@pytest.mark.parametrize("loops", [0, 2])
@pytest.mark.parametrize("vendor", ["mpich", "intel"])
def test_imb_prints_the_same_twenty_times(vendor: str, loops: int) -> None:
    with busy_loops(loops):
        check_imb(vendor, RUNS_MANY)
