"""Archives of OTF2 as programs: nhalf's own come back whole, and those of Score-P are read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.exchange.exporters.otf2 import write_archive
from nhalf.exchange.program.otf2_program import (
    input_bytes,
    is_otf2,
    read_archive,
    transferred_bytes,
)
from nhalf.facts.program.program import Program
from tests.nhalf.decide.program.known_programs import (
    call,
    machine,
    ping_pong,
    replayed_s,
    with_counts,
)
from tests.nhalf.exchange.program.test_program_exports import example
from tests.server import Ended

COLUMNS = ["rank", "thread", "call", "kind", "communicator", "partner", "tag", "size_bytes"]


@pytest.fixture(scope="module")
def otf2() -> Any:
    """OTF2's library."""
    return pytest.importorskip("otf2", reason="OTF2's library has no wheel for this Python")


def again(otf2: Any, made: Program, tmp_path: Path) -> Program:
    write_archive(otf2, made, tmp_path / "archive")
    return read_archive(tmp_path / "archive")


def ordered(made: Program) -> pl.DataFrame:
    """The rows in one order; a wait has neither tag nor size."""
    is_wait = pl.col("kind") == "waiting"
    none = [pl.when(is_wait).then(0).otherwise(pl.col(name)).alias(name) for name in COLUMNS[-2:]]
    return made.timeline.sort("rank", "thread", "start_s", "kind", "call").with_columns(*none)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_trace_comes_back(otf2: Any, tmp_path: Path, ranks: int) -> None:
    made = example(ranks)
    back = again(otf2, made, tmp_path)
    assert ordered(back).select(COLUMNS).to_dicts() == ordered(made).select(COLUMNS).to_dicts()
    for name in ("start_s", "end_s"):
        times_s = zip(ordered(back)[name], ordered(made)[name], strict=True)
        assert all(one == pytest.approx(two, abs=1e-9) for one, two in times_s)
    assert back.hosts == made.hosts
    assert back.elapsed_s == pytest.approx(made.elapsed_s)
    assert back.communicators["world_rank"].to_list() == list(range(ranks))


def test_what_comes_back_predicts_the_same(otf2: Any, tmp_path: Path) -> None:
    rows = []
    for rank in range(3):
        ends = {"tag": 3, "size_bytes": 500}
        left, right = (rank - 1) % 3, (rank + 1) % 3
        rows += [
            call("MPI_Irecv", "received", rank, left, (0.1, 0.5), **ends),
            call("MPI_Isend", "sent", rank, right, (0.2, 0.3), **ends),
            call("MPI_Waitall", "waiting", rank, -2, (0.4, 0.5)),
            call("MPI_Sendrecv", "sent", rank, right, (0.6, 0.6), tag=4, size_bytes=8),
            call("MPI_Sendrecv", "received", rank, left, (0.6, 0.7), tag=4, size_bytes=8),
        ]
    for made in (with_counts(rows, 3, 1.0), ping_pong(4, 70000, 0.1)):
        back = again(otf2, made, tmp_path / str(made.ranks))
        placement = f"{made.ranks}x1"
        expected_s = replayed_s(made, machine(), placement)
        assert replayed_s(back, machine(), placement) == pytest.approx(expected_s, abs=1e-7)


def foreign_archive(otf2: Any, folder: Path) -> Path:
    """As Score-P writes: a function around everything, requests, calls within a call."""
    with otf2.writer.open(str(folder), timer_resolution=1000) as archive:
        write = archive.definitions
        node = write.system_tree_node("node7", class_name="node")
        mpi = otf2.Paradigm.MPI
        places = []
        for rank in range(2):
            group = write.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            places.append(write.location("Master thread", group=group))
        write.location("GPU", group=write.location_group("device", system_tree_parent=node))
        kinds = otf2.GroupType
        write.group("", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=places)
        pair = write.group("", group_type=kinds.COMM_GROUP, paradigm=mpi, members=places[::-1])
        other = write.comm("reversed", group=pair)
        names = ("main", "MPI_Init", "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce")
        region = {name: write.region(name) for name in names}
        for rank, place in enumerate(places):
            events = archive.event_writer_from_location(place)
            events.enter(0, region["main"])
            events.enter(1, region["MPI_Init"])
            events.leave(100, region["MPI_Init"])
            events.enter(200, region["MPI_Irecv"])
            events.mpi_irecv_request(205, 11)
            events.leave(210, region["MPI_Irecv"])
            events.enter(220, region["MPI_Isend"])
            # Ranks count in the communicator, where rank 0 is the second.
            events.mpi_isend(225, rank, other, 5, 4000, 12)
            events.leave(230, region["MPI_Isend"])
            events.enter(300, region["MPI_Waitall"])
            events.mpi_isend_complete(310, 12)
            events.mpi_irecv(400, rank, other, 5, 4000, 11)
            events.leave(400, region["MPI_Waitall"])
            events.enter(500, region["MPI_Allreduce"])
            events.mpi_collective_begin(500)
            events.enter(510, region["MPI_Waitall"])  # a library that calls itself
            events.leave(520, region["MPI_Waitall"])
            events.mpi_collective_end(600, otf2.CollectiveOp.ALLREDUCE, other, 2**32 - 1, 16, 16)
            events.leave(600, region["MPI_Allreduce"])
            events.leave(700, region["main"])
    return folder


def test_what_other_tools_write_is_read(otf2: Any, tmp_path: Path) -> None:
    back = read_archive(foreign_archive(otf2, tmp_path / "archive") / "traces.otf2")
    assert back.ranks == 2
    assert back.hosts == ("node7", "node7")
    for record in back.trace.ranks:
        assert (record.start_s, record.end_s) == pytest.approx((0.1, 0.7))
    rows = [
        tuple(row[name] for name in ("call", "kind", "partner", "size_bytes"))
        for row in back.timeline.filter(pl.col("rank") == 0).iter_rows(named=True)
    ]
    assert rows == [
        ("MPI_Irecv", "received", 1, 4000),
        ("MPI_Isend", "sent", 1, 4000),
        ("MPI_Waitall", "waiting", -2, 0),
        ("MPI_Allreduce", "collective", -2, 8),
    ]
    receive = back.timeline.row(0, named=True)
    assert (receive["start_s"], receive["end_s"]) == pytest.approx((0.2, 0.4))
    times_s = dict(back.calls.filter(pl.col("rank") == 0).select("call", "time_s").iter_rows())
    assert times_s == pytest.approx(
        {"MPI_Irecv": 0.0, "MPI_Isend": 0.01, "MPI_Waitall": 0.1, "MPI_Allreduce": 0.1}
    )


@pytest.mark.parametrize(
    "name",
    [
        "bcast",
        "reduce",
        "gather",
        "scatter",
        "allreduce",
        "allgather",
        "alltoall",
        "scan",
        "exscan",
    ],
)
@pytest.mark.parametrize("ranks", [2, 5])
def test_sizes_of_operations_come_back(name: str, ranks: int) -> None:
    for place in range(ranks):
        is_root = place == 1
        size_bytes = 40 * ranks if name in ("scatter", "alltoall") and is_root else 40
        moved = transferred_bytes(name, size_bytes, ranks, place, is_root)
        assert input_bytes(name, *moved, ranks) == size_bytes
    # As the tests of Score-P have it: 4 ranks reduce 25 of 16 bytes.
    assert transferred_bytes("allreduce", 400, 4, 0, False) == (1600, 1600)


def test_what_is_no_archive_is_refused(
    otf2: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Ended]
) -> None:
    (tmp_path / "traces.otf2").write_bytes(b"nothing")
    assert not is_otf2(tmp_path)
    call("import", tmp_path / "traces.otf2", "--out", tmp_path / "run").is_error(2, "traces.otf2")
    broken = foreign_archive(otf2, tmp_path / "broken")
    (broken / "traces.def").write_bytes(b"nothing")
    with pytest.raises(InputError, match="damaged"):
        read_archive(broken)
    archive = foreign_archive(otf2, tmp_path / "archive")
    done = call("import", archive, "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert Program.open(tmp_path / "run").ranks == 2
    monkeypatch.setitem(sys.modules, "otf2", None)
    with pytest.raises(MissingError, match="no module otf2"):
        read_archive(archive)
