"""The collective calls of a trace as rules tell them apart."""

from __future__ import annotations

from typing import Any

import polars as pl

from nhalf.experiment.improve.candidates.collectives import CallCell, call_cells
from nhalf.facts.program.program import Program
from tests.nhalf.traced_programs import frame, program


def cells(*rows: tuple[str, int], **more: Any) -> list[tuple[str, int, int, int]]:
    """The cells of collective calls of these sizes of four ranks."""
    made = program(
        4,
        [
            {"call": name, "kind": "collective", "size_bytes": size_bytes, "partner": -2, **more}
            for name, size_bytes in rows
        ],
    )
    return [shape(cell) for cell in call_cells(made)]


def shape(cell: CallCell) -> tuple[str, int, int, int]:
    return cell.operation, cell.ranks, cell.from_bytes, cell.to_bytes


def test_sizes_near_each_other_share_a_cell() -> None:
    sizes = (8, 32, 33, 1 << 20)
    assert cells(*(("MPI_Allreduce", size) for size in sizes)) == [
        ("allreduce", 4, 8, 32),
        ("allreduce", 4, 33, 33),
        ("allreduce", 4, 1 << 20, 1 << 20),
    ]
    assert cells(("MPI_Bcast", 0), ("MPI_Bcast", 1)) == [("bcast", 4, 0, 0), ("bcast", 4, 1, 1)]


def test_nothing_has_no_cell() -> None:
    assert cells() == []
    assert list(call_cells(program(2))) == []


def test_operations_are_those_that_block_and_tuners_decide_on() -> None:
    counted = cells(("MPI_Iallreduce", 8), ("MPI_Bcast_init", 8), ("MPI_Reduce_scatter_block", 8))
    assert counted == [("reduce-scatter", 4, 8, 8)]
    # The counts of MPI_Reduce_scatter are another operation for all libraries.
    assert cells(("MPI_Reduce_scatter", 8)) == [("reduce_scatter", 4, 8, 8)]


def test_sizes_are_those_of_one_block() -> None:
    assert cells(("MPI_Alltoall", 4096), ("MPI_Allgather", 4096)) == [
        ("allgather", 4, 4096, 4096),
        ("alltoall", 4, 1024, 1024),
    ]
    rows = [
        {"call": "MPI_Scatter", "kind": "collective", "rank": rank, "partner": 1}
        | {"size_bytes": 400 if rank == 1 else 100}
        for rank in range(4)
    ]
    (cell,) = call_cells(program(4, rows))
    assert shape(cell) == ("scatter", 4, 100, 100)
    assert (cell.affected.from_bytes, cell.affected.to_bytes) == (100, 400)


def test_communicators_of_another_size_are_other_cells() -> None:
    rows = [
        {"call": "MPI_Allreduce", "kind": "collective", "size_bytes": 8, "communicator": number}
        for number in (0, 1, 2, 3)
    ]
    made = program(4, rows)
    parts = [{"communicator": 1 + rank // 2, "rank": rank % 2, "world_rank": rank}
             for rank in range(4)]  # fmt: skip
    members = pl.concat([made.communicators, frame("communicators", parts)])
    split = Program(made.path, made.trace, made.calls, made.bins, made.timeline, members)
    # Communicator 3 has no member that is known.
    assert [shape(cell) for cell in call_cells(split)] == [
        ("allreduce", 2, 8, 8),
        ("allreduce", 4, 8, 8),
    ]
