"""Calls that an exception or a jump leaves do not end what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    built,
    messages,
    traced,
)

RANKS = 2
LEFT = dict.fromkeys((100, 101, 200, 201, 202, 300, 301), 10)
"""Messages of each size after calls were left: a call that did not end is none of them."""
FROM_FIBERS = {500: 2, 600: 1}
pytestmark = pytest.mark.skipif(not FOUND, reason="no MPI library here")


def cases() -> list[object]:
    """Every library, in the main thread and another one; one of them is tried always."""
    return [
        pytest.param(
            *case,
            where,
            marks=[] if (case, where) == (CASES[0], "main") else [pytest.mark.full],
        )
        for case in CASES
        for where in ("main", "thread")
    ]


@pytest.mark.parametrize(
    ("library", "compiler", "where"), cases(), ids=lambda one: getattr(one, "name", one)
)
def test_calls_after_calls_that_were_left_are_counted(
    library: Library, compiler: Path, where: str, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, "leaving.cpp", programs)
    outcome, trace = traced(library, tmp_path / "trace", RANKS, [str(program), where])
    assert outcome.exit_code == 0, outcome.stderr
    assert "all calls left" in outcome.stdout
    counted = messages(trace)
    for kind in ("sent", "received"):
        for rank in range(RANKS):
            sizes = {
                size: count
                for (one, call, of, _, partner, size), count in counted.items()
                if (one, call, of, partner) == (rank, "MPI_Sendrecv", kind, 1 - rank)
            }
            assert sizes == LEFT | FROM_FIBERS
    assert not [key for key in counted if key[1] == "MPI_Send"]
    assert counted[0, "MPI_Comm_dup", "collective", 0, -2, 0] == 2
