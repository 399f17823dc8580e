"""Time-independent traces of SimGrid, in both forms, as programs; what is exported comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters.tit import Tit
from nhalf.exchange.program.tit_file import is_tit
from nhalf.exchange.program.tit_program import read_tit
from nhalf.facts.program.program import Program
from tests.nhalf.decide.program.known_programs import (
    RENDEZVOUS_BYTES,
    call,
    machine,
    message_s,
    ping_pong,
    replayed_s,
    with_counts,
)
from tests.server import Ended

Call = Callable[..., Ended]
ONE_MESSAGE = ("0 init\n0 send 1 3 4096\n0 finalize\n", "1 init\n1 recv 0 3 4096\n1 finalize\n")


def index(folder: Path, *texts: str) -> Path:
    """A trace with a file for each rank."""
    folder.mkdir(exist_ok=True)
    for rank, text in enumerate(texts):
        (folder / f"actions-{rank}.txt").write_text(text)
    path = folder / "list"
    path.write_text("".join(f"actions-{rank}.txt\n" for rank in range(len(texts))))
    return path


def one_file(folder: Path, text: str) -> Path:
    path = folder / "actions"
    path.write_text(text)
    return path


def rows_of(program: Program, rank: int, *columns: str) -> list[tuple[object, ...]]:
    timeline = program.timeline
    return timeline.filter(timeline["rank"] == rank).select(columns).rows()


def test_a_message_has_its_size_and_takes_its_time(tmp_path: Path) -> None:
    path = index(tmp_path, *ONE_MESSAGE)
    assert is_tit(path)
    made = read_tit(path)
    assert rows_of(made, 1, "call", "partner", "size_bytes") == [("MPI_Recv", 0, 4096)]
    assert not made.is_timed
    assert replayed_s(made, machine(), "1x2") == pytest.approx(message_s(4096))


def test_both_forms_are_one_program(tmp_path: Path) -> None:
    new = (
        "0 init\n1 init\n0 isend 1 0 100 6\n0 wait 0 1 0\n0 bcast 8 1 6\n1 irecv 0 0 100 6\n"
        "1 wait 0 1 0\n1 bcast 8 1 6\n0 allreduce 4 9 6\n1 allreduce 4 9 6\n"
    )
    old = (
        "p0 init\np1 init\np0 Isend p1 100\np0 wait\np0 bcast 8 p1\np1 Irecv p0 100\n"
        "p1 wait\np1 bcast 8 p1\np0 allReduce 4 9\np1 allReduce 4 9\n"
    )
    a, b = read_tit(one_file(tmp_path, new)), read_tit(one_file(tmp_path, old))
    assert a.timeline.equals(b.timeline)
    assert rows_of(a, 0, "call", "partner", "size_bytes") == [
        ("MPI_Isend", 1, 100), ("MPI_Wait", -2, 0), ("MPI_Bcast", 1, 8), ("MPI_Allreduce", -2, 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("barrier", ("MPI_Barrier", -2, 0)),
        ("bcast 10", ("MPI_Bcast", 0, 10)),
        ("bcast 10 1 0", ("MPI_Bcast", 1, 80)),
        ("reduce 5 100 1 1", ("MPI_Reduce", 1, 20)),
        ("allReduce 5 100 4", ("MPI_Allreduce", -2, 40)),
        ("alltoall 6 6 1 1", ("MPI_Alltoall", -2, 48)),
        ("gather 7 7 1 3 3", ("MPI_Gather", 1, 14)),
        ("allGather 7 7 2 2", ("MPI_Allgather", -2, 7)),
        ("scatter 7 7 1 3 3", ("MPI_Scatter", 1, 14)),
        ("scatter 7 7 0 3 3", ("MPI_Scatter", 0, 28)),
        ("gatherv 7 7 9 1 3 3", ("MPI_Gatherv", 1, 14)),
        ("allgatherv 7 7 9 3", ("MPI_Allgatherv", -2, 14)),
        ("scatterv 7 9 7 0 1 1", ("MPI_Scatterv", 0, 64)),
        ("alltoallv 100 3 4 100 5 6 1 1", ("MPI_Alltoallv", -2, 28)),
        ("reduceScatter 3 5 77 1", ("MPI_Reduce_scatter", -2, 32)),
        ("scan 1e3 5 6", ("MPI_Scan", -2, 1000)),
    ],
)
def test_operations_have_what_a_rank_puts_in(
    tmp_path: Path, action: str, expected: tuple[object, ...]
) -> None:
    path = one_file(tmp_path, f"0 init\n1 init\n0 {action}\n1 {action}\n")
    assert rows_of(read_tit(path), 0, "call", "partner", "size_bytes") == [expected]


def test_counts_are_doubles_if_init_says_so(tmp_path: Path) -> None:
    made = read_tit(one_file(tmp_path, "0 init 1\n1 init 1\n0 send 1 0 4\n1 recv 0 0 -1\n"))
    assert set(made.timeline["size_bytes"]) == {32}


def test_requests_end_where_they_are_waited_for(tmp_path: Path) -> None:
    text = (
        "0 irecv 1 7 8\n0 irecv 1 8 9\n0 test 1 0 8\n0 wait 1 0 8\n0 sendrecv 5 1 6 1 6 6\n"
        "0 waitall\n1 isend 0 8 9\n1 isend 0 7 8\n1 sendrecv 6 0 5 0 6 6\n1 waitall\n"
    )
    made = read_tit(one_file(tmp_path, text))
    names = [name for (name,) in rows_of(made, 0, "call")]
    assert names == [
        "MPI_Irecv", "MPI_Irecv", "MPI_Wait", "MPI_Irecv", "MPI_Isend", "MPI_Wait", "MPI_Wait",
    ]  # fmt: skip
    ends = {row[0]: row[2] for row in rows_of(made, 0, "size_bytes", "kind", "end_s") if row[0]}
    waits = [end_s for kind, end_s in rows_of(made, 0, "kind", "end_s") if kind == "waiting"]
    assert (ends[9], ends[6], ends[8]) == (waits[0], waits[1], waits[2])
    assert replayed_s(made, machine()) > 0


def test_computing_needs_its_rate(tmp_path: Path, call: Call) -> None:
    path = index(tmp_path, "0 compute 3e9\n" + ONE_MESSAGE[0], ONE_MESSAGE[1])
    predict = ("predict", path, "--machine", "altix-bx2")
    call(*predict).is_error(2, "operations, and how many", "--flop-rate")
    call("import", path, "--out", tmp_path / "run").is_error(2, "--flop-rate")
    for rate in ("0", "-1", "nan", "inf", "fast"):
        call(*predict, "--flop-rate", rate).is_error(2, "is not a rate")
    for rate, time_s in (("1e9", 3.0), ("3e9", 1.0)):
        said = json.loads(call(*predict, "--flop-rate", rate, "--json").out)
        assert said["time_s"] == pytest.approx(time_s, rel=1e-3)
        assert said["computing"] == "as stated"
    assert "measured here" not in call(*predict, "--flop-rate", "1e9").out
    assert call("import", path, "--out", tmp_path / "run", "--flop-rate", "3e9").code == 0
    assert Program.open(tmp_path / "run").elapsed_s == pytest.approx(1.0, rel=1e-3)
    call("predict", tmp_path / "run", *predict[2:], "--flop-rate", "1e9").is_error(2, "has times")


def test_seconds_need_no_rate(tmp_path: Path) -> None:
    made = read_tit(index(tmp_path, "0 sleep 0.5\n" + ONE_MESSAGE[0], ONE_MESSAGE[1]))
    assert replayed_s(made, machine(), "1x2") == pytest.approx(0.5 + message_s(4096))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 send 1 0 8\n1 barrier\n", "collective operations of rank 1"),
        ("0 send 1 0 8\n1 init\n", "sends 1 messages .* receives 0"),
        ("0 init\n1 recv 0 0 8\n", "sends 0 messages .* receives 1"),
        ("0 send 2 0 8\n1 init\n", "line 1 .* there are 2 ranks"),
        ("0 init\n1 recv -1 0 8\n", "line 2 .* any rank"),
        ("0 init\n1 recv 0 -444 8\n", "any tag"),
        ("0 send 1 0\n1 recv 0 0 5 6 6\n", "not those of a message"),
        ("0 send 1 0 x\n", "no number of elements"),
        ("0 send 0 0 8 99\n", "type '99'"),
        ("0 send x 0 8\n", "no rank"),
        ("0 compute\n", "no amount"),
        ("0 compute -5\n", "no amount"),
        ("0 init\n2 init\n", "none of rank 1"),
        ("0 init\n0 teleport 5\n", "line 2 .* no known action"),
        ("0 init\n0\n", "line 2"),
        ("0 bcast 8 7\n", "no root"),
        ("0 alltoallv 8\n", "missing"),
        ("0 bcast\n", "missing"),
        ("0 init\n0 finalize\n", "no message"),
    ],
)
def test_what_is_no_whole_trace_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = one_file(tmp_path, text)
    assert is_tit(path)
    with pytest.raises(InputError, match=words):
        read_tit(path)


def test_files_that_are_not_there_are_named(tmp_path: Path, call: Call) -> None:
    path = index(tmp_path, *ONE_MESSAGE)
    (tmp_path / "actions-1.txt").unlink()
    call("predict", path, "--machine", "altix-bx2").is_error(2, "actions-1.txt", "not there")


def test_other_files_are_no_traces(tmp_path: Path, call: Call) -> None:
    for text in ("", "# OSU MPI Latency Test\n8 1.00\n", "a\0b", "8 1.00\n", "x" * 5000):
        assert not is_tit(one_file(tmp_path, text))
    assert not is_tit(tmp_path / "absent")
    path = one_file(tmp_path, "nothing\n")
    call("predict", path, "--machine", "altix-bx2").is_error(2, "GOAL, OTF2, SimGrid", "mpiP")
    call("import", path).is_error(2, "GOAL, OTF2, SimGrid's time-independent traces, mpiP")
    call("import", path, "--flop-rate", "1e9").is_error(2, "counts no operations")


@pytest.mark.parametrize("size_bytes", [1, 1000, RENDEZVOUS_BYTES])
@pytest.mark.parametrize("moved", [False, True])
def test_an_exported_trace_predicts_the_same(tmp_path: Path, size_bytes: int, moved: bool) -> None:
    """But for the barrier at its end, which is two messages of no bytes, a round of both ways."""
    made, folder = ping_pong(10, size_bytes, computing_s=0.01), tmp_path / "actions"
    Tit().write(made, folder)
    if moved:
        folder = folder.rename(tmp_path / "elsewhere")
    again = read_tit(folder)
    columns = ["rank", "kind", "partner", "size_bytes"]
    assert again.messages.select(columns).equals(made.messages.select(columns))
    direct_s = replayed_s(made, machine(), "1x2")
    assert replayed_s(again, machine(), "1x2") == pytest.approx(direct_s + message_s(0), rel=1e-6)


def test_an_exported_trace_keeps_requests_and_operations(tmp_path: Path) -> None:
    rows = []
    for rank in range(3):
        ends = {"tag": 3, "size_bytes": 40}
        rows += [
            call("MPI_Irecv", "received", rank, (rank - 1) % 3, (0.1, 0.5), **ends),
            call("MPI_Isend", "sent", rank, (rank + 1) % 3, (0.1, 0.1001), **ends),
            call("MPI_Waitall", "waiting", rank, -2, (0.3, 0.5)),
            call("MPI_Alltoall", "collective", rank, -2, (0.6, 0.7), size_bytes=12),
            call("MPI_Allgather", "collective", rank, -2, (0.7, 0.8), size_bytes=12),
        ]
    Tit().write(with_counts(rows, 3, 1.0), tmp_path / "actions")
    again = read_tit(tmp_path / "actions")
    assert len(again.messages) == 3
    operations = again.timeline.filter(again.timeline["kind"] == "collective")
    assert operations.filter(operations["rank"] == 1).select("call", "size_bytes").rows() == [
        ("MPI_Alltoall", 12), ("MPI_Allgather", 12), ("MPI_Barrier", 0),
    ]  # fmt: skip
