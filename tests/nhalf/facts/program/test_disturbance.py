"""What others took of the ranks' processors, on timelines by hand.

Ranks on fewer processors than they are, and what is said of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nhalf.decide.program.basis import Efficiency, efficiency
from nhalf.facts.program.delays import delays
from nhalf.facts.program.disturbance import (
    NOBODY,
    Queued,
    SharedProcessors,
    shared_processors,
    taken_by_others,
    taken_from_run_s,
    taken_on_path_s,
    undisturbed_computing_s,
)
from nhalf.facts.program.program import Program
from nhalf.present.findings import findings
from nhalf.present.program.answer import answer_json, answer_lines
from nhalf.present.program.verdict import listed, sharing_lines
from tests.nhalf.traced_programs import call, disturbed, off, program, timed


def barrier(ends_s: float, *begins_s: float) -> list[dict[str, Any]]:
    return [
        call(rank, "MPI_Barrier", "collective", -2, begin_s, ends_s, size_bytes=0)
        for rank, begin_s in enumerate(begins_s)
    ]


def tree_of(made: Program) -> Efficiency:
    tree = efficiency(made)
    assert tree is not None
    return tree


def test_computing_is_without_what_others_took() -> None:
    # Rank 0 computes 3 s, and others have its processor for one more.
    plain = timed(2, *barrier(4, 4, 2), ends_s=(4, 4))
    made = disturbed(plain, off(0, 0, 4, 1))
    assert undisturbed_computing_s(made) == pytest.approx({0: 3.0, 1: 2.0})
    assert taken_from_run_s(made) == pytest.approx(1.0)
    tree = tree_of(made)
    assert (tree.elapsed_s, tree.measured_s, tree.ideal_s) == pytest.approx((3.0, 4.0, 3.0))
    assert tree.load_balance_share == pytest.approx(2.5 / 3)
    assert tree.communication_share == pytest.approx(1.0)
    assert tree.transfer_share == pytest.approx(1.0)
    before = tree_of(timed(2, *barrier(4, 4, 2), ends_s=(4, 4)))
    assert before.load_balance_share == pytest.approx(3 / 4)
    # Rank 1 waits for 2 s, a quarter of which others took, as far as is known.
    row = delays(made).row(0, named=True)
    assert (row["rank"], row["waiting_s"]) == (0, 2.0)
    assert (row["computing_s"], row["in_mpi_s"], row["taken_s"]) == pytest.approx((1.5, 0, 0.5))


def test_without_others_another_rank_is_the_last() -> None:
    # Without others rank 0 would arrive after 1 s, so that the run takes as long as rank 1 does.
    made = disturbed(timed(2, *barrier(4, 4, 2), ends_s=(4, 4)), off(0, 0, 4, 3))
    tree = tree_of(made)
    assert (tree.elapsed_s, tree.ideal_s) == pytest.approx((2.0, 2.0))
    assert tree.load_balance_share == pytest.approx(0.75)


def test_calls_last_as_long_as_the_shortest_where_others_had_the_processor() -> None:
    # Both barriers take 0.5 s once all are there; in the second, others have it for 1.5 s more.
    calls = [*barrier(2.5, 2, 1), *barrier(6.5, 4.5, 3.5)]
    made = disturbed(timed(2, *calls, ends_s=(6.5, 6.5)), off(1, 3.5, 6.5, 2.5, in_call=True))
    assert taken_on_path_s(made) == pytest.approx({"": 0.0, "MPI_Barrier": 1.5})
    assert tree_of(made).elapsed_s == pytest.approx(5.0)
    lines = answer_lines(made)
    assert any(line.startswith("Critical path: computing 80 %") for line in lines), lines


def test_sleep_is_the_program_s_own() -> None:
    made = disturbed(timed(2, *barrier(4, 4, 2), ends_s=(4, 4)), off(0, 0, 4, 0, off_s=2.0))
    assert taken_from_run_s(made) == 0.0
    assert undisturbed_computing_s(made) == pytest.approx({0: 4.0, 1: 2.0})
    assert taken_by_others(made)["share"].to_list() == [0.0, 0.0]


def test_the_verdict_says_so() -> None:
    made = disturbed(timed(2, *barrier(4, 4, 2), ends_s=(4, 4)), off(0, 0, 4, 1))
    assert answer_lines(made)[:2] == [
        "Rank 0 was off its core for 25 % of the run (other processes), the other ranks for 0 % or "
        "more.",
        "With a processor for each rank the run would take 3 s instead of 4 s; all times and "
        "shares are of that run.",
    ]
    others = answer_json(made)["others"]
    assert (others["shares_of"], others["elapsed_s"]) == ("undisturbed", pytest.approx(3.0))
    assert (others["measured_s"], others["disturbed"]) == (4.0, False)
    assert others["on_critical_path_s"] == pytest.approx(1.0)
    assert [row["share"] for row in others["ranks"]] == pytest.approx([0.25, 0.0])


def test_on_several_hosts_it_is_a_least_time() -> None:
    made = disturbed(timed(2, *barrier(4, 4, 2), ends_s=(4, 4)), off(0, 0, 4, 1))
    made.trace.ranks[1].host = "another"
    assert "the run would take at least 3 s instead of 4 s" in answer_lines(made)[1]


def test_a_trace_that_did_not_record_it_is_silent() -> None:
    made = timed(2, *barrier(4, 4, 2), ends_s=(4, 4))
    assert taken_by_others(made).is_empty()
    assert not [line for line in answer_lines(made) if "off its core" in line]
    counts = disturbed(program(2, [], elapsed_s=0.0))
    assert taken_by_others(counts)["share"].to_list() == [None, None]
    assert not [line for line in answer_lines(counts) if "off its core" in line]


def test_counts_alone_know_the_sums() -> None:
    made = program(2, [], elapsed_s=4.0)
    made.trace.ranks[1].queued_s, made.trace.ranks[1].in_calls_queued_s = 1.0, 1.0
    assert taken_by_others(made).rows() == [(1, 1.0, 1.0, 0.5)]
    assert undisturbed_computing_s(made) == pytest.approx({0: 4.0, 1: 3.0})
    # How long the run would take without others, nobody knows.
    assert efficiency(made) is None
    assert answer_json(made)["others"]["disturbed"]
    made = program(2, [], elapsed_s=4.0)
    made.trace.ranks[1].queued_s, made.trace.ranks[1].in_calls_queued_s = 0.04, 0.08
    assert tree_of(made).elapsed_s == 4.0
    assert answer_json(made)["others"]["shares_of"] == "traced"


def test_the_time_that_others_took_is_that_of_the_threads_that_run() -> None:
    made = program(2, [], elapsed_s=4.0)
    record = made.trace.ranks[0]
    record.threads_running, record.queued_s, record.in_calls_queued_s = 4, 4.0, 8.0
    assert taken_by_others(made).rows() == [(0, 1.0, 2.0, 0.75)]


def test_parts_of_spans() -> None:
    spans = Queued(np.array([1.0, 5.0]), np.array([3.0, 6.0]), np.array([1.0, 0.5]))
    ends_s = np.array([2.0, 3.0, 5.5, 9.0])
    assert spans.parts_s(np.zeros(4), ends_s) == pytest.approx([0.5, 1.0, 1.25, 1.5])
    assert spans.most_within_s(2.5, 5.25) == pytest.approx(0.75)
    assert (NOBODY.most_within_s(0, 9), NOBODY.parts_s(np.zeros(1), np.ones(1))[0]) == (0.0, 0.0)


def bound(*processors: str, hosts: int = 1) -> Program:
    """A program whose ranks may run on these processors of their hosts, e.g. '01'."""
    made = program(len(processors), hosts=hosts)
    for record, own in zip(made.trace.ranks, processors, strict=True):
        record.processors = tuple(int(digit) for digit in own)
    return made


@pytest.mark.parametrize(
    "processors",
    [(), ("",), ("", "", ""), ("0",), ("0", "1"), ("01", "01"), ("01", "12", "20"), ("0", "01")],
)
def test_ranks_with_processors_enough_share_none(processors: tuple[str, ...]) -> None:
    assert shared_processors(bound(*processors)) == ()
    assert list(sharing_lines(bound(*processors))) == []


@pytest.mark.parametrize(
    ("processors", "on", "ranks"),
    [
        (("0", "0"), (0,), (0, 1)),
        (("01", "01", "01"), (0, 1), (0, 1, 2)),
        (("3", "0123", "3"), (3,), (0, 2)),
        (("0", "01", "1"), (0, 1), (0, 1, 2)),
        (("01", "01", "12", "12"), (0, 1, 2), (0, 1, 2, 3)),
    ],
)
def test_ranks_without_share_what_they_have(
    processors: tuple[str, ...], on: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    shared = SharedProcessors("node0", on, ranks, len(ranks))
    assert shared_processors(bound(*processors)) == (shared,)


def test_threads_that_run_count_each() -> None:
    assert shared_processors(bound("01", "01")) == ()
    made = bound("01", "01")
    for record in made.trace.ranks:
        record.threads_running = 4
    (shared,) = shared_processors(made)
    assert (shared.threads, shared.threads_each, shared.ranks) == (8, 4.0, (0, 1))
    assert list(sharing_lines(made)) == [
        "Oversubscribed: 8 threads of 2 ranks (0, 1) share 2 processors of node0 (processors 0, 1)."
    ]
    single = bound("0")
    single.trace.ranks[0].threads_running = 2
    assert next(iter(sharing_lines(single))).startswith("Oversubscribed: 2 threads of 1 rank (0) ")


def test_processors_of_hosts_are_their_own() -> None:
    assert shared_processors(bound("0", "0", hosts=2)) == ()
    both = shared_processors(bound("0", "1", "0", "1", "2", "1", hosts=2))
    assert [(each.host, each.processors, each.ranks) for each in both] == [
        ("node1", (1,), (1, 3, 5)),
        ("node0", (0,), (0, 2)),
    ]


def test_it_is_the_first_thing_to_know() -> None:
    made = bound("0", "0", "0", "1", hosts=1)
    text = "Oversubscribed: 3 ranks (0-2) share 1 processor of node0 (processor 0)."
    assert list(sharing_lines(made)) == [text]
    assert findings(made)[0].text == text
    twice = bound("0", "0", "3", "3", "01234567")
    assert "; so it is in 1 more place." in next(iter(sharing_lines(twice)))


def test_numbers_in_a_row_are_joined() -> None:
    assert listed([]) == ""
    assert listed([5]) == "5"
    assert listed([0, 1, 3, 4, 5, 9]) == "0, 1, 3-5, 9"
