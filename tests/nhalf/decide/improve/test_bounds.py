# SPDX-License-Identifier: Apache-2.0
"""How much a change can save at most equals the closed form of programs whose calls are known."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.decide.improve.bounds import upper_share
from nhalf.facts.program.program import Program
from nhalf.mpi.affected import ALL, MESSAGES, MPI, Affected
from tests.nhalf.traced_programs import program

BARRIER = Affected(operations=("barrier",))


def calls(*rows: tuple[int, str, str, int, float], **more: Any) -> Program:
    """A program of ranks that are in these calls for some seconds, of ten."""
    names = ("rank", "call", "kind", "size_bytes", "time_s")
    rows_of = [dict(zip(names, row, strict=True)) for row in rows]
    return program(2, rows_of, elapsed_s=10.0, **more)


def test_nothing_known_bounds_nothing() -> None:
    assert upper_share(None, BARRIER) == 1.0
    assert upper_share(calls(), ALL) == 1.0
    assert upper_share(program(2, [], elapsed_s=0.0), MPI) == 1.0


def test_a_program_without_calls_gains_nothing() -> None:
    assert upper_share(calls(), MPI) == 0.0
    assert upper_share(calls(), BARRIER) == 0.0


def test_no_rank_ends_before_its_computing_does() -> None:
    both = calls((0, "MPI_Barrier", "collective", 0, 4.0), (1, "MPI_Barrier", "collective", 0, 3.0))
    assert upper_share(both, BARRIER) == pytest.approx(0.3)
    assert upper_share(both, MPI) == pytest.approx(0.3)
    assert upper_share(both, MESSAGES) == 0.0


def test_waiting_is_saved_only_with_what_is_waited_for() -> None:
    waits = calls(
        (0, "MPI_Allreduce", "collective", 8, 6.0),
        (1, "MPI_Allreduce", "collective", 8, 5.0),
        (0, "MPI_Barrier", "collective", 0, 0.1),
        (1, "MPI_Barrier", "collective", 0, 0.1),
    )
    assert upper_share(waits, BARRIER) == pytest.approx(0.02)


def test_sizes_and_operations_in_any_form_count() -> None:
    rows = [
        (0, "MPI_Send", "sent", 100, 1.0),
        (1, "MPI_Irecv", "received", 100, 0.0),
        (1, "MPI_Wait", "waiting", 0, 1.5),
        (0, "MPI_Ibcast", "collective", 8, 0.2),
        (1, "MPI_Ibcast", "collective", 8, 0.2),
    ]
    messages = Affected(messages=True, from_bytes=64, to_bytes=128)
    assert upper_share(calls(*rows), messages) == pytest.approx(0.12)
    large = Affected(messages=True, from_bytes=101)
    assert upper_share(calls(*rows), large) == 0.0
    # The wait may be that of the broadcast.
    assert upper_share(calls(*rows), Affected(operations=("bcast",))) == pytest.approx(0.12)
