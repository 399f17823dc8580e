"""Every message of programs whose messages are known is counted, whatever becomes of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from nhalf.measure.traced.tables import TABLES
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    Message,
    built,
    collective,
    every_program,
    messages,
    nhalf,
    traced,
)

RANKS = 4
pytestmark = pytest.mark.skipif(not FOUND, reason="no MPI library here")


def ring(size: int) -> Counter[Message]:
    """What ring.cpp says."""
    found: Counter[Message] = Counter()
    for rank in range(size):
        right, left = (rank + 1) % size, (rank - 1) % size
        for size_bytes in (4**power for power in range(7)):
            found[rank, "MPI_Send", "sent", 0, right, size_bytes] += 1
            found[rank, "MPI_Recv", "received", 0, left, size_bytes] += 1
        found[rank, "MPI_Send", "sent", 0, -1, 0] += 1
        found[rank, "MPI_Recv", "received", 0, -1, 0] += 1
        found[rank, "MPI_Sendrecv", "sent", 0, right, 20] += 1
        found[rank, "MPI_Sendrecv", "received", 0, left, 20] += 1
        # On a communicator with ranks in the other order.
        found[collective(rank, "Comm_split", 0)] += 1
        found[rank, "MPI_Irecv", "received", 1, right, 24] += 1
        found[rank, "MPI_Irecv", "received", 1, left, 0] += 1
        found[rank, "MPI_Isend", "sent", 1, left, 24] += 1
        found[rank, "MPI_Isend", "sent", 1, right, 0] += 1
        found[collective(rank, "Barrier", 0)] += 1
        found[collective(rank, "Bcast", 400, 1)] += 3
        found[collective(rank, "Allreduce", 40)] += 2
        found[collective(rank, "Gather", 8, 0)] += 1
        found[collective(rank, "Alltoall", 12 * size)] += 1
        found[collective(rank, "Iallreduce", 16)] += 1
    return found


@every_program
def test_every_message_is_counted(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, "ring.cpp", programs)
    outcome, trace = traced(library, tmp_path / "trace", RANKS, [str(program)])
    assert outcome.exit_code == 0, outcome.stderr
    assert messages(trace) == ring(RANKS)
    assert trace.trace.complete
    assert [one.rank for one in trace.trace.ranks] == list(range(RANKS))
    members = trace.table("communicators").collect().rows()
    assert members == [
        *((0, "MPI_COMM_WORLD", rank, rank) for rank in range(RANKS)),
        *((1, "", rank, RANKS - 1 - rank) for rank in range(RANKS)),
    ]


@pytest.mark.parametrize("end", ["kill", "_exit", "7"])
def test_however_a_program_ends(end: str, tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "ring.cpp", programs)
    outcome, trace = traced(library, tmp_path / "trace", RANKS, [str(program), end])
    assert messages(trace) == ring(RANKS)
    assert trace.trace.exit_code == outcome.exit_code
    assert trace.trace.complete == (end == "7")
    assert ("MPI_Finalize was not reached" in outcome.stdout) == (end != "7")
    if end == "7":
        assert outcome.exit_code == 7
    again = nhalf(library, "--collect", str(tmp_path / "trace"))
    assert again.exit_code == 0, again.stderr


def test_tables_agree_with_each_other(tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "ring.cpp", programs)
    options = ("--detail", "timeline")
    _, trace = traced(library, tmp_path / "trace", RANKS, [str(program)], *options)
    calls, bins, timeline = (trace.table(name).collect() for name in ("calls", "bins", "timeline"))
    for name, table in (("calls", calls), ("bins", bins), ("timeline", timeline)):
        assert dict(table.schema) == TABLES[name]
    by = ["rank", "kind"]
    counted = calls.group_by(by).agg(pl.col("count", "bytes").sum()).sort(by)
    over_time = bins.group_by(by).agg(pl.col("count", "bytes").sum()).sort(by)
    assert counted.rows() == over_time.rows()
    each = timeline.group_by(by).agg(pl.len().alias("count"), pl.col("size_bytes").sum()).sort(by)
    assert counted.rows() == each.rows()
    assert (timeline["end_s"] >= timeline["start_s"]).all()
    assert bins["width_s"].n_unique() <= RANKS
    sums = timeline.filter(pl.col("call") == "MPI_Allreduce").sort("rank", "start_s")
    assert sums["tag"].to_list() == RANKS * [0, 1], "the second one is in place"


def test_a_sum_that_is_divided_tells_what_each_rank_gets(tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "operations.cpp", programs)
    options = ("--detail", "timeline")
    _, trace = traced(library, tmp_path / "trace", RANKS, [str(program)], *options)
    calls = trace.table("timeline").filter(pl.col("call") == "MPI_Reduce_scatter").collect()
    assert calls.sort("rank")["tag"].to_list() == [2 * 4 * (rank + 1) for rank in range(RANKS)]


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    absent = nhalf(FOUND[0], "--out", str(tmp_path / "two"), "--", "nowhere")
    assert absent.exit_code == 2
    assert "cannot start nowhere" in absent.stderr
    assert not (tmp_path / "two").exists()


@pytest.mark.full
def test_what_cannot_be_traced_says_so(tmp_path: Path) -> None:
    library = FOUND[0]
    none = nhalf(library, "--out", str(tmp_path / "one"), "--", "sh", "-c", "exit 3")
    assert none.exit_code == 3
    assert "no process of this command was traced" in none.stderr
    assert "exit code 3" in none.stderr
    again = nhalf(library, "--out", str(tmp_path / "one"), "--", "true")
    assert again.exit_code == 2
    assert "holds a trace or counters already" in again.stderr
