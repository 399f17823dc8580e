"""Schedules in GOAL, text and binary, as programs; a trace written as one predicts the same."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters.goal import goal_schedule
from nhalf.exchange.program.goal_file import RANKS_MAX, GoalRanks, is_goal, read_goal
from nhalf.exchange.program.goal_program import BEGIN, BLOCK, WAIT, calls_of, read_schedule
from nhalf.facts.program.program import Program
from tests.nhalf.decide.program.known_programs import (
    RENDEZVOUS_BYTES,
    T0_S,
    call,
    machine,
    ping_pong,
    replayed_s,
    with_counts,
)
from tests.nhalf.traced_programs import program, stored
from tests.server import Ended

Call = Callable[..., Ended]

TWO = """// by hand
num_ranks 2
rank 0 {
  a: calc 1000 cpu 0
  b: send 1000b to 1 tag 7 cpu 0 nic 0
  b requires a
  c: recv 1000b from 1 tag 9
  c requires b
  calc 5 /* over
  two lines */
}
rank 1 {
  l1: recv 1000b from 0 tag 7
  l2: send 1000b to 0 tag 9
  l2 requires l1
}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "schedule.goal"
    path.write_text(text)
    return path


def binary(ranks: GoalRanks) -> bytes:
    """What txt2bin writes, by the description in its Parser.hpp."""
    kinds = {"send": 1, "recv": 2, "calc": 3}
    parts = []
    for operations in ranks:
        after = [[n for n, other in enumerate(operations) if place in other.after]
                 for place in range(len(operations))]  # fmt: skip
        begun = [[n for n, other in enumerate(operations) if place in other.begun]
                 for place in range(len(operations))]  # fmt: skip
        roots = [n for n, one in enumerate(operations) if not one.after and not one.begun]
        part = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots)
        named: list[int] = []
        for one, later, started in zip(operations, after, begun, strict=True):
            part += struct.pack(
                "<IBIQIBB", len(one.after) + len(one.begun), kinds[one.kind], one.peer,
                one.amount, one.tag, one.cpu, 0,
            )  # fmt: skip
            part += struct.pack("<II", len(later), len(named))
            named += later
            part += struct.pack("<II", len(started), len(named))
            named += started
        parts.append(part + struct.pack(f"<{len(named)}I", *named))
    at, spans = 6 + 16 * len(ranks), []
    for part in parts:
        spans += [at, at + len(part)]
        at += len(part)
    head = struct.pack(f"<QIBB{len(spans)}Q", 4223, len(ranks), 0, 0, *spans)
    return head + b"".join(parts)


def test_a_schedule_is_read_as_it_stands(tmp_path: Path) -> None:
    ranks = read_goal(written(tmp_path, TWO))
    kinds = [[operation.kind for operation in operations] for operations in ranks]
    assert kinds == [["calc", "send", "recv", "calc"], ["recv", "send"]]
    assert [operation.after for operation in ranks[0]] == [[], [0], [1], []]
    assert (ranks[0][1].amount, ranks[0][1].peer, ranks[0][1].tag) == (1000, 1, 7)


def test_a_binary_schedule_is_the_same(tmp_path: Path) -> None:
    text = TWO.replace("c requires b", "c requires b\n  c irequires a")
    ranks = read_goal(written(tmp_path, text))
    path = tmp_path / "schedule.bin"
    path.write_bytes(binary(ranks))
    assert is_goal(path)
    assert read_goal(path) == ranks
    for end in (9, 20, 60, 100, len(path.read_bytes()) - 3):
        path.write_bytes(binary(ranks)[:end])
        with pytest.raises(InputError, match=r"damaged|no schedule"):
            read_goal(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("num_ranks 0\n", "0 ranks"),
        (f"num_ranks {RANKS_MAX + 1}\n", "ranks"),
        ("num_ranks 1\nrank 1 {\n}\n", "line 2"),
        ("num_ranks 1\nrank 0 {\ncalc 5\n", "no end"),
        ("num_ranks 1\nrank 0 {\n// one\nl1: sned 5b to 0\n}\n", "line 4"),
        ("num_ranks 1\nrank 0 {\nl1 requires l2\n}\n", "line 3"),
        ("num_ranks 1\nrank 0 {\ncalc -5\n}\n", "line 3"),
    ],
)
def test_what_is_no_schedule_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_goal(written(tmp_path, text))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("l1: recv 8b from -1 tag 0", "any rank"),
        ("l1: recv 8b from 1 tag -1", "any tag"),
        ("l1: send 8b to 2 tag 0", "rank 2 of 2"),
        ("a: send 8b to 1\nb: send 8b to 1\na requires b\nb requires a", "require each other"),
        ("calc 8", "no message"),
    ],
)
def test_what_has_no_order_is_refused(tmp_path: Path, body: str, words: str) -> None:
    path = written(tmp_path, f"num_ranks 2\nrank 0 {{\n{body}\n}}\nrank 1 {{\n}}\n")
    with pytest.raises(InputError, match=words):
        read_schedule(path)


def test_what_may_overlap_does(tmp_path: Path) -> None:
    """A round of a dissemination: both messages, and a calculation that needs neither."""
    body = "a: send 8b to 1\nb: calc 9\nc: recv 8b from 1\nd: calc 7\nd requires a\nd requires c"
    text = f"num_ranks 2\nrank 0 {{\n{body}\n}}\nrank 1 {{\n}}\n"
    (operations, _) = read_goal(written(tmp_path, text))
    calls = [(one.action, one.places) for one in calls_of(operations, range(4))]
    assert calls == [
        (BEGIN, (2,)), (BEGIN, (0,)), (BLOCK, (1,)), (WAIT, (2, 0)), (BLOCK, (3,)),
    ]  # fmt: skip


def test_processors_are_threads_unless_they_depend_on_each_other(tmp_path: Path) -> None:
    body = "a: send 8b to 1 cpu 0\nb: send 8b to 1 tag 1 cpu 3\n"
    text = "num_ranks 2\nrank 0 {{\n{}\n}}\nrank 1 {{\nrecv 8b from 0\nrecv 8b from 0 tag 1\n}}\n"
    apart = read_schedule(written(tmp_path, text.format(body)))
    assert apart.timeline.filter(apart.timeline["rank"] == 0)["thread"].to_list() == [0, 0, 1, 1]
    assert len(apart.trace.notes) == 1
    joined = read_schedule(written(tmp_path, text.format(body + "b requires a")))
    assert set(joined.timeline["thread"]) == {0}
    assert "one after the other (ranks: 1)" in joined.trace.notes[1]


def of_goal(made: Program, tmp_path: Path) -> Program:
    return read_schedule(written(tmp_path, goal_schedule(made)))


@pytest.mark.parametrize("size_bytes", [1, 1000, RENDEZVOUS_BYTES])
def test_a_trace_as_a_schedule_predicts_the_same(tmp_path: Path, size_bytes: int) -> None:
    made = ping_pong(10, size_bytes, computing_s=0.01)
    again = of_goal(made, tmp_path)
    for slower in (1.0, 3.0):
        direct_s = replayed_s(made, machine(slower), "1x2")
        assert replayed_s(again, machine(slower), "1x2") == pytest.approx(direct_s, rel=1e-12)


@pytest.mark.parametrize("size_bytes", [8, RENDEZVOUS_BYTES])
def test_begun_messages_stay_begun(tmp_path: Path, size_bytes: int) -> None:
    """Each rank begins a receive and a send, computes, and waits for both."""
    rows = []
    for rank in range(3):
        ends = {"tag": 3, "size_bytes": size_bytes}
        left, right = (rank - 1) % 3, (rank + 1) % 3
        rows += [
            call("MPI_Irecv", "received", rank, left, (0.1, 0.5), **ends),
            call("MPI_Isend", "sent", rank, right, (0.1, 0.1001), **ends),
            call("MPI_Waitall", "waiting", rank, -2, (0.3 + 0.05 * rank, 0.5)),
            call("MPI_Send", "sent", rank, right, (0.6, 0.6), tag=4, size_bytes=8),
            call("MPI_Recv", "received", rank, left, (0.6, 0.7), tag=4, size_bytes=8),
        ]
    made = with_counts(rows, 3, 1.0)
    again = of_goal(made, tmp_path)
    for placement in ("3x1", "1x3"):
        direct_s = replayed_s(made, machine(), placement)
        assert replayed_s(again, machine(), placement) == pytest.approx(direct_s, rel=1e-9)
    assert "MPI_Isend" in set(again.timeline["call"])


def test_a_schedule_is_predicted_without_an_error(tmp_path: Path, call: Call) -> None:
    path = written(tmp_path, TWO)
    made = read_schedule(path)
    assert len(made.messages) == 2
    apart_s = 1e-6 + 2 * (10 * T0_S + 1e-3)
    assert replayed_s(made, machine()) == pytest.approx(apart_s)
    told = call("predict", path, "--machine", "altix-bx2")
    assert told.code == 0
    assert "the error of predictions is not known" in told.out
    assert "computing as the schedule or --flop-rate gives it" in told.out
    assert "measured here" not in told.out
    said = json.loads(call("predict", path, "--machine", "altix-bx2", "--json").out)
    assert said["error"] is None
    assert said["low_s"] is None
    assert said["time_s"] > 1e-6
    assert said["computing"] == "as stated"
    scaled = call("predict", path, "--machine", "altix-bx2", "--computing-factor", "2")
    assert "--computing-factor scales" not in scaled.out
    table = call("predict", path, "--machine", "altix-bx2", "--placement", "1x2,2x1").out
    assert "within its error" not in table


def test_a_schedule_is_imported_as_a_trace(tmp_path: Path, call: Call) -> None:
    path, folder = written(tmp_path, TWO), tmp_path / "run"
    assert call("import", path, "--out", folder).code == 0
    again = Program.open(folder)
    assert not again.is_timed
    assert again.timeline.equals(read_schedule(path).timeline)
    shown = call("show", folder).out
    assert "Its calls were not timed" in shown
    assert "Parallel efficiency" not in shown
    assert json.loads(call("show", folder, "--json").out)["efficiency"] is None
    call("import", path, "--out", folder).is_error(2, "holds a trace already")
    call("import", path, path, "--out", tmp_path / "more").is_error(2, "one at a time")


def test_a_schedule_of_a_schedule_is_the_same(tmp_path: Path) -> None:
    made = read_schedule(written(tmp_path, TWO))
    again = of_goal(made, tmp_path)
    columns = ["rank", "kind", "partner", "size_bytes"]
    assert again.messages.select(columns).equals(made.messages.select(columns))
    assert replayed_s(again, machine()) == pytest.approx(replayed_s(made, machine()), rel=1e-6)


def test_counts_are_no_schedule(tmp_path: Path, call: Call) -> None:
    folder = stored(program(2), tmp_path / "run")
    assert not is_goal(folder)
    assert not is_goal(tmp_path / "absent")
    call("export", folder, "--to", "goal").is_error(2, "order of the calls")
