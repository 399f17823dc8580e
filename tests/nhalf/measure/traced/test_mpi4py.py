"""Programs in Python, which load their MPI library late, are counted as any other."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    FOUND,
    SOURCES,
    Message,
    collective,
    messages,
    traced,
)
from tests.nhalf.mpi.test_preload_mpi4py import HANDLES, environment

__all__ = ["environment"]
RANKS = 3


@pytest.mark.full
@pytest.mark.parametrize("library", FOUND, ids=lambda one: one.name)
def test_python_is_counted(library: Library, tmp_path: Path, environment: Path) -> None:
    handles = f"MPI4PY_MPIABI={HANDLES[library.vendor]}"
    places = f"PYTHONPATH={environment / 'packages'}"
    command = ["env", handles, places, sys.executable, str(SOURCES / "ring.py")]
    outcome, trace = traced(library, tmp_path / "trace", RANKS, command)
    assert outcome.exit_code == 0, outcome.stderr
    expected: Counter[Message] = Counter()
    for rank in range(RANKS):
        right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
        expected[rank, "MPI_Send", "sent", 0, right, 40] = 1
        expected[rank, "MPI_Irecv", "received", 0, left, 40] = 1
        expected[collective(rank, "Comm_split", 0)] = 1
        expected[collective(rank, "Bcast", 80, RANKS - 1, 1)] = 1
        expected[collective(rank, "Allreduce", 80)] = 1
        expected[collective(rank, "Barrier", 0)] = 1
    assert messages(trace) == expected
