"""Who waits for whom, whom waiting is charged to, and the critical path, of timelines by hand."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.decide.program.basis import efficiency
from nhalf.facts.program.critical_path import critical_path
from nhalf.facts.program.delays import delays
from nhalf.facts.program.program import Program
from nhalf.facts.program.waits import waits
from nhalf.present.program.answer import answer_json, answer_lines
from tests.nhalf.traced_programs import call, program, timed


def listed(made: Program) -> list[tuple[Any, ...]]:
    return waits(made).select("rank", "cause", "call", "late_rank", "from_s", "to_s").rows()


def caused_s(made: Program) -> dict[int, tuple[float, float]]:
    rows = delays(made).iter_rows(named=True)
    return {row["rank"]: (row["computing_s"], row["in_mpi_s"]) for row in rows}


def test_a_synchronous_send_waits_for_its_receiver() -> None:
    made = timed(
        2,
        call(0, "MPI_Ssend", "sent", 1, 1, 5),
        call(1, "MPI_Recv", "received", 0, 4, 5),
    )
    assert listed(made) == [(0, "late receiver", "MPI_Ssend", 1, 1.0, 4.0)]
    assert caused_s(made) == {1: (3.0, 0.0), 0: (0.0, 0.0)}
    path = critical_path(made)
    assert path is not None
    assert path.length_s == 10.0


def test_a_send_that_ended_before_its_receive_waited_for_nobody() -> None:
    made = timed(
        2,
        call(0, "MPI_Send", "sent", 1, 1, 2),
        call(1, "MPI_Recv", "received", 0, 4, 5),
    )
    assert listed(made) == []


def test_a_wait_for_several_messages_is_for_the_last_of_them() -> None:
    made = timed(
        3,
        call(0, "MPI_Irecv", "received", 1, 0, 7),
        call(0, "MPI_Irecv", "received", 2, 0.5, 7),
        call(0, "MPI_Waitall", "waiting", -2, 1, 7),
        call(1, "MPI_Send", "sent", 0, 3, 3.5),
        call(2, "MPI_Send", "sent", 0, 6, 6.5),
    )
    assert listed(made) == [(0, "late sender", "MPI_Waitall", 2, 1.0, 6.0)]
    path = critical_path(made)
    assert path is not None
    assert [(piece.rank, piece.call) for piece in path.pieces] == [
        (2, ""),
        (0, "MPI_Waitall"),
        (0, ""),
    ]
    assert path.computing_s == {2: 6.0, 0: 3.0}
    assert path.calls_s == {"MPI_Waitall": 1.0}


@pytest.mark.parametrize(
    ("name", "waiting"),
    [
        # All wait for the root, and no longer than that.
        ("MPI_Bcast", [(1, 0, 1.0, 3.0)]),
        # Only the root waits.
        ("MPI_Reduce", [(0, 2, 3.0, 6.0)]),
        ("MPI_Allreduce", [(0, 2, 3.0, 6.0), (1, 2, 1.0, 6.0)]),
        ("MPI_Iallreduce", []),
    ],
)
def test_who_waits_at_a_collective(name: str, waiting: list[tuple[Any, ...]]) -> None:
    begins_s = (3.0, 1.0, 6.0)
    made = timed(
        3,
        *(call(rank, name, "collective", 0, begin_s, 7) for rank, begin_s in enumerate(begins_s)),
    )
    assert [(row[0], *row[3:]) for row in listed(made)] == waiting


def test_waiting_is_charged_to_the_root_of_a_chain() -> None:
    # Rank 0 computes 4 s, sends for 1 s; rank 1 computes 1 s with that; rank 2 waits for rank 1.
    made = timed(
        3,
        call(0, "MPI_Send", "sent", 1, 4, 5),
        call(1, "MPI_Recv", "received", 0, 0, 5),
        call(1, "MPI_Send", "sent", 2, 6, 7),
        call(2, "MPI_Recv", "received", 1, 1, 7),
        ends_s=(5, 7, 7.5),
    )
    # Of rank 2's 5 s, 3 s are rank 0's computing, 1 s rank 1's receiving, 1 s its computing.
    assert caused_s(made) == {0: (7.0, 0.0), 1: (1.0, 1.0), 2: (0.0, 0.0)}
    tree = efficiency(made)
    assert tree is not None
    computing_s = (4, 1, 1.5)
    assert tree.load_balance_share == pytest.approx(sum(computing_s) / 3 / 4)


def test_ranks_that_seem_to_wait_for_each_other_end() -> None:
    # Clocks that are apart: both sends begin after both receives.
    made = timed(
        2,
        call(0, "MPI_Recv", "received", 1, 1, 2),
        call(0, "MPI_Send", "sent", 1, 3, 4),
        call(1, "MPI_Recv", "received", 0, 1, 2),
        call(1, "MPI_Send", "sent", 0, 3, 4),
    )
    assert sum(map(sum, caused_s(made).values())) <= 2.0
    path = critical_path(made)
    assert path is not None
    assert path.length_s == pytest.approx(10.0)


def test_threads_that_wait_at_once_are_one_wait() -> None:
    made = timed(
        3,
        call(0, "MPI_Recv", "received", 1, 1, 5),
        call(0, "MPI_Recv", "received", 2, 2, 6, thread=1),
        call(1, "MPI_Send", "sent", 0, 4, 5),
        call(2, "MPI_Send", "sent", 0, 5, 6),
    )
    assert [row[0] for row in listed(made)] == [0]
    assert sum(map(sum, caused_s(made).values())) == pytest.approx(3.0)


def test_a_rank_of_which_nothing_is_known_is_left_out() -> None:
    made = timed(
        3,
        call(1, "MPI_Recv", "received", 2, 1, 5),
        call(2, "MPI_Send", "sent", 1, 4, 5),
    )
    made.trace.ranks.pop(0)
    assert set(caused_s(made)) == {1, 2}
    path = critical_path(made)
    assert path is not None
    assert set(path.computing_s) <= {1, 2}
    assert any("computing" in line for line in answer_lines(made))


def test_the_answer_is_ten_lines_at_most() -> None:
    made = timed(
        3,
        call(0, "MPI_Send", "sent", 1, 4, 5),
        call(1, "MPI_Recv", "received", 0, 0, 5),
        call(2, "MPI_Recv", "received", 1, 1, 7),
        call(1, "MPI_Send", "sent", 2, 6, 7),
        ends_s=(5, 7, 7.5),
    )
    lines = answer_lines(made)
    assert len(lines) <= 10
    assert lines[1:] == [
        "Parallel efficiency 29 % = load balance 54 % x communication 53 %",
        "Communication 53 % = serialisation 73 % x transfer 73 %",
        "Critical path: computing 73 % (on 3 ranks, 73 % of it on rank 0), MPI_Recv 27 %",
        "Slack before the run is 1 % slower: latency +37.5 ms, overhead at either end +18.8 ms, "
        "+4.69 ms per byte, noise in computing +0.987 %, or computing on rank 0 alone +1.88 %",
        "Ranks spend 40 % of their time waiting for late ranks, mostly (78 %) for rank 0 while it "
        "computes, 22 % for rank 1 while it computes",
        "Most of the ranks' time in MPI: MPI_Recv of 8 B 49 % (5.5 s each), MPI_Send of 8 B 9 % "
        "(1 s each)",
    ]
    answer = answer_json(made)
    assert answer["critical_path"]["calls"] == [{"call": "MPI_Recv", "time_s": 2.0}]


def test_without_a_timeline_the_network_is_not_told_from_waiting() -> None:
    rows = [
        {"call": "MPI_Recv", "kind": "received", "rank": rank, "partner": -1, "time_s": time_s}
        for rank, time_s in enumerate((0.5, 0.0))
    ]
    made = program(2, rows)
    tree = efficiency(made)
    assert tree is not None
    assert (tree.parallel_share, tree.load_balance_share, tree.communication_share) == (
        0.75,
        0.75,
        1.0,
    )
    assert (tree.serialisation_share, tree.transfer_share) == (None, None)
    lines = answer_lines(made)
    assert not any("serialisation" in line or "Critical" in line for line in lines)
    assert answer_json(made)["critical_path"] is None
