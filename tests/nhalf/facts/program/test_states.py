"""What ranks do over time, on timelines by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nhalf.facts.program.critical_path import amounts_until_s
from nhalf.facts.program.program import Program
from nhalf.facts.program.states import STATES, path_ranks, run_parts_s, states
from tests.nhalf.traced_programs import call, frame, program, timed


def chain() -> Program:
    """Rank 0 computes 4 s and sends for 1 s; rank 1 waits, computes 1 s and sends to rank 2."""
    return timed(
        3,
        call(0, "MPI_Send", "sent", 1, 4, 5),
        call(1, "MPI_Recv", "received", 0, 0, 5),
        call(1, "MPI_Send", "sent", 2, 6, 7),
        call(2, "MPI_Recv", "received", 1, 1, 7),
        ends_s=(5, 7, 8),
    )


def test_each_second_of_each_rank_is_one_thing() -> None:
    seconds = states(chain(), 8)
    expected = {
        0: "ccccm...",
        1: "wwwwtcm.",
        2: "cwwwwwtc",
    }
    letters = "cwtmn."
    for rank, row in expected.items():
        for part, letter in enumerate(row):
            wanted = np.zeros(len(STATES))
            if letter != ".":
                wanted[letters.index(letter)] = 1.0
            assert seconds[rank][part] == pytest.approx(wanted), (rank, part)


def test_no_second_is_lost_or_counted_twice() -> None:
    for parts in (1, 3, 7, 50):
        sums_s = {rank: rows.sum() for rank, rows in states(chain(), parts).items()}
        assert sums_s == pytest.approx({0: 5.0, 1: 7.0, 2: 8.0})
    assert run_parts_s(chain(), 4).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_what_others_took_is_no_computing_and_no_waiting() -> None:
    spans = [
        {"rank": 0, "in_call": False, "start_s": 0, "end_s": 4, "off_s": 1, "queued_s": 1},
        {"rank": 1, "in_call": True, "start_s": 0, "end_s": 5, "off_s": 4, "queued_s": 2.5},
    ]
    made = replace(chain(), off_processor=frame("off_processor", spans))
    assert states(made, 1)[0][0] == pytest.approx([3, 0, 0, 1, 1])
    # Of the call what transfers goes first, then what waits.
    assert states(made, 1)[1][0] == pytest.approx([1, 3.5, 0, 0, 2.5])


def test_the_path_is_drawn_whole_or_by_the_rank_that_most_of_a_part_is_on() -> None:
    made = chain()
    assert path_ranks(made, 10) == [
        (0.0, 4.0, 0), (4.0, 5.0, 1), (5.0, 6.0, 1), (6.0, 7.0, 2), (7.0, 8.0, 2),
    ]  # fmt: skip
    assert path_ranks(made, 4) == [(0.0, 4.0, 0), (4.0, 6.0, 1), (6.0, 8.0, 2)]
    assert path_ranks(made, 1) == [(0.0, 8.0, 0)]


def test_without_a_timeline_there_is_nothing() -> None:
    assert states(program(2), 5) == {}
    assert path_ranks(program(2), 5) == []
    assert amounts_until_s(np.zeros(0), np.zeros(0), np.zeros(0), np.ones(2)).tolist() == [0, 0]
