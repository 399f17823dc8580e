"""How much of a run computing could hide, on timelines whose messages are known."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.facts.program.overlap import overlap_share
from nhalf.facts.program.program import Program
from tests.nhalf.traced_programs import call, program, timed


def exchange(
    computes_s: float, waits_s: float, sent_s: float = 0.2, wait: str = "MPI_Wait"
) -> Program:
    """Rank 1 begins to receive at 0 s, computes and waits; rank 0 sends at a time."""
    begin_s = 0.1 + computes_s
    end_s = begin_s + waits_s
    return timed(
        2,
        call(1, "MPI_Irecv", "received", 0, 0.0, end_s),
        call(1, wait, "waiting", -2, begin_s, end_s),
        call(0, "MPI_Send", "sent", 1, sent_s, end_s),
    )


@pytest.mark.parametrize(
    ("computes_s", "waits_s", "hidden_s"), [(4.0, 2.0, 2.0), (1.0, 3.0, 1.1), (0.0, 3.0, 0.1)]
)
def test_a_wait_is_hidden_as_far_as_there_was_computing(
    computes_s: float, waits_s: float, hidden_s: float
) -> None:
    made = exchange(computes_s, waits_s)
    assert overlap_share(made) == pytest.approx(hidden_s / 2 / 10)


def test_a_wait_for_a_late_sender_is_no_overlap() -> None:
    assert overlap_share(exchange(4.0, 2.0, sent_s=5.1)) == pytest.approx(1.0 / 2 / 10)
    assert overlap_share(exchange(4.0, 2.0, sent_s=6.1)) == pytest.approx(0.0)


def test_what_was_begun_on_the_other_side_counts_as_well() -> None:
    made = timed(
        2,
        call(0, "MPI_Isend", "sent", 1, 0.0, 0.0),
        call(0, "MPI_Wait", "waiting", -2, 3.0, 5.0),
        call(1, "MPI_Recv", "received", 0, 0.0, 5.0),
    )
    assert overlap_share(made) == pytest.approx(2.0 / 2 / 10)


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [call(0, "MPI_Barrier", "collective", -2, 0.0, 5.0)],
        [call(1, "MPI_Recv", "received", 0, 0.0, 5.0), call(0, "MPI_Send", "sent", 1, 4.0, 5.0)],
    ],
)
def test_blocking_calls_overlap_nothing(calls: list[dict[str, Any]]) -> None:
    assert overlap_share(timed(2, *calls)) == 0.0


def test_without_a_timeline_nothing_is_known() -> None:
    assert overlap_share(program(2)) == 0.0
    assert overlap_share(program(0, elapsed_s=0.0)) == 0.0
