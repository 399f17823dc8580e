"""How much of a run computing could hide, on timelines whose messages are known.

What operations take after the last rank came that they need, on timelines that are known.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from nhalf.facts.program.overlap import after_arrival, overlap_share
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


CAME_S, LEFT_S = (0.0, 3.0, 1.0), (4.0, 4.5, 5.0)


def each(name: str, root: int = -2, **more: Any) -> list[float]:
    """What an operation takes of three ranks that come and leave at different times."""
    rows = [
        call(rank, name, "collective", root, CAME_S[rank], LEFT_S[rank], **more)
        for rank in range(3)
    ]
    return own_s(timed(3, *rows))


def own_s(made: Program) -> list[float]:
    table = after_arrival(made)
    assert table is not None
    return [round(time_s, 9) for time_s in table.sort("number", "rank")["own_s"]]


@pytest.mark.parametrize("name", ["Barrier", "Allreduce", "Allgather", "Alltoall",
                                  "Reduce_scatter", "Reduce_scatter_block"])  # fmt: skip
def test_no_rank_leaves_before_all_have_come(name: str) -> None:
    assert each(f"MPI_{name}") == [1.0, 1.5, 2.0]


@pytest.mark.parametrize("name", ["Bcast", "Scatter"])
def test_no_rank_leaves_before_its_root_has_come(name: str) -> None:
    assert each(f"MPI_{name}", 2) == [3.0, 1.5, 4.0]
    assert each(f"MPI_{name}", 1) == [1.0, 1.5, 2.0]


@pytest.mark.parametrize("name", ["Reduce", "Gather"])
def test_the_root_waits_for_all_and_others_for_nobody(name: str) -> None:
    assert each(f"MPI_{name}", 2) == [4.0, 1.5, 2.0]


@pytest.mark.parametrize(
    "name", ["Alltoallv", "Alltoallw", "Allgatherv", "Scan", "Exscan", "Neighbor_allgather"]
)
def test_the_whole_call_counts_where_ranks_may_need_nothing(name: str) -> None:
    assert each(f"MPI_{name}") == [4.0, 1.5, 4.0]


def test_rooted_operations_with_counts_and_empty_ones_bind_nobody() -> None:
    assert each("MPI_Gatherv", 0) == each("MPI_Scatterv", 0) == [4.0, 1.5, 4.0]
    assert each("MPI_Allreduce", size_bytes=0) == [4.0, 1.5, 4.0]
    assert each("MPI_Barrier", size_bytes=0) == [1.0, 1.5, 2.0]


def test_a_root_that_is_not_known_binds_nobody() -> None:
    assert each("MPI_Bcast", -3) == [4.0, 1.5, 4.0]


def test_operations_are_counted_one_by_one() -> None:
    rows = [
        call(rank, "MPI_Barrier", "collective", -2, begin_s, end_s)
        for rank, begin_s, end_s in [(0, 0.0, 2.5), (1, 2.0, 2.5), (0, 3.0, 5.0), (1, 4.0, 5.0)]
    ]
    assert own_s(timed(2, *rows)) == [0.5, 0.5, 1.0, 1.0]


def test_what_was_not_traced_is_not_known() -> None:
    row = call(0, "MPI_Barrier", "collective", -2, 0.0, 1.0)
    # Rank 1 is a member, and its call is missing.
    assert own_s(timed(2, row)) == [1.0]
    assert after_arrival(program(2)) is None
    counted = program(1, [{"call": "MPI_Barrier", "kind": "collective", "count": 2}])
    assert after_arrival(counted) is None
    cut = program(1, [{"call": "MPI_Barrier", "kind": "collective", "count": 2}], timeline=[row])
    assert after_arrival(cut) is None


def test_a_member_whose_calls_are_missing_may_be_the_last() -> None:
    rows = [call(rank, "MPI_Bcast", "collective", 1, CAME_S[rank], LEFT_S[rank]) for rank in (0, 1)]
    assert own_s(timed(3, *rows)) == [4.0, 1.5]
    assert own_s(timed(2, *rows)) == [1.0, 1.5]


def test_ranks_without_a_common_clock_are_not_compared() -> None:
    rows = [call(rank, "MPI_Barrier", "collective", -2, 0.0, 1.0) for rank in range(2)]
    made = timed(2, *rows)
    assert after_arrival(made) is not None
    apart = program(2, made.calls.to_dicts(), timeline=rows, detail="timeline", hosts=2)
    assert after_arrival(apart) is None


def test_between_two_groups_nobody_waits_for_the_own_one() -> None:
    rows = [call(rank, "MPI_Barrier", "collective", -2, CAME_S[rank], 5.0) for rank in range(2)]
    made = timed(2, *rows)
    groups = made.communicators.with_columns(rank=pl.lit(0, pl.Int32))
    apart = Program(made.path, made.trace, made.calls, made.bins, made.timeline, groups)
    assert own_s(apart) == [5.0, 2.0]
