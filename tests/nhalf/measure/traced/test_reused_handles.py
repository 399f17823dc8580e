"""A library gives handles of ended requests again: none stands for the receive that it once was."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    FOUND,
    built,
    every_program,
    messages,
    traced,
)

RANKS = 2
WAYS = 5
"""The ways in which receives end in reuse.cpp, each followed by sends."""
SENDS = 20
pytestmark = pytest.mark.skipif(not FOUND, reason="no MPI library here")


@every_program
def test_only_receives_are_counted_as_such(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, "reuse.cpp", programs)
    outcome, trace = traced(library, tmp_path / "trace", RANKS, [str(program)])
    assert outcome.exit_code == 0, outcome.stderr
    assert "all handles reused" in outcome.stdout
    by_rank = {
        (call, kind, partner, size): count
        for (rank, call, kind, _, partner, size), count in messages(trace).items()
        if rank == 0 and kind in ("sent", "received")
    }
    assert by_rank == {
        ("MPI_Issend", "sent", 1, 100): WAYS * SENDS,
        ("MPI_Irecv", "received", 1, 8): 1,
    }
    assert [note.split()[1] for note in trace.trace.notes] == ["requests"]
