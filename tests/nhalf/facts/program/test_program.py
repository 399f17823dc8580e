"""Each quantity of a traced program equals the closed form of what the program does.

Nothing is said of a whole program by a timeline that was cut off.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.program.basis import efficiency
from nhalf.decide.program.predict import COUNTS, TIMELINE, predict_program
from nhalf.decide.program.target import Target
from nhalf.decide.program.tolerance_curves import curves, network_curves, tolerances
from nhalf.facts.program.calls import collective_calls, time_by_rank
from nhalf.facts.program.messages import (
    better_placement,
    by_host,
    communication_matrix,
    crossing_bytes,
    destination_histogram,
    histogram,
    median_bytes,
    message_sizes,
    sends_by_rank,
    share_below,
    spread,
    suggested_placement,
)
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.program import Program, has_whole_timeline, is_counted
from nhalf.facts.program.shape.naming import communication_shape
from nhalf.facts.program.states import rate_phases, rates_over_time
from nhalf.facts.program.waits import arrivals, late_pairs, matched, waiting_by_cause
from nhalf.machines.message import Messages
from nhalf.measure.traced.collect import LOST
from nhalf.measure.traced.layout import DISK_FULL, SIZES_ROUNDED, TIMELINE_CUT
from nhalf.present.program.verdict import program_verdict
from tests.nhalf.decide.program.known_programs import machine
from tests.nhalf.traced_programs import call, program, sends_of, sent, stored, timed


def ring(ranks: int, **more: Any) -> Program:
    return program(ranks, sent(sends_of(ranks, lambda rank: [(rank + 1) % ranks])), **more)


def test_sends_of_each_process_those_without_any_included() -> None:
    rows = [*sent({(0, 1): 3, (0, 2): 1}, 100), *sent({(1, 1): 2}, 8)]
    found = sends_by_rank(program(4, rows))
    silent = [(rank, 0, 0, 0, None) for rank in (2, 3)]
    assert found.rows() == [(0, 4, 400, 2, 100.0), (1, 2, 16, 1, 8.0), *silent]
    assert spread(found["messages"]) == {"min": 0, "mean": 1.5, "max": 4}
    assert destination_histogram(found).rows() == [(0, 2), (1, 1), (2, 1)]


def test_what_goes_nowhere_is_not_sent() -> None:
    nowhere = [{"call": "MPI_Send", "kind": "sent", "partner": -1, "count": 5, "bytes": 50}]
    assert program(2, nowhere).sent.is_empty()
    assert message_sizes(program(2, nowhere)).is_empty()
    assert communication_shape(program(2, nowhere)).name == "none"


def test_puts_count_as_messages_and_gets_do_not() -> None:
    row = {"kind": "one-sided", "partner": 1, "count": 1, "bytes": 8, "size_bytes": 8}
    rows = [{"call": "MPI_Rput", **row}, {"call": "MPI_Get", **row}]
    assert program(2, rows).sent["call"].to_list() == ["MPI_Rput"]


def test_sizes_have_cumulative_shares_and_classes() -> None:
    rows = [*sent({(0, 1): 6}, 0), *sent({(0, 1): 3}, 1024), *sent({(1, 0): 1}, 1025)]
    found = message_sizes(program(2, rows))
    assert found["messages_share"].to_list() == pytest.approx([0.6, 0.9, 1.0])
    assert found["bytes_share"].to_list() == pytest.approx([0, 3072 / 4097, 1])
    assert histogram(found).select("from_bytes", "to_bytes", "messages").rows() == [
        (0, 1, 6),
        (1024, 2048, 4),
    ]
    assert (median_bytes(found), share_below(found, 1024)) == (0, 0.6)


@pytest.mark.parametrize("size_bytes", [1, 2, 3, 2**20 - 1, 2**20, 2**29, 2**40 - 1, 2**40])
def test_every_size_is_in_its_class(size_bytes: int) -> None:
    (row,) = histogram(message_sizes(program(2, sent({(0, 1): 1}, size_bytes)))).rows(named=True)
    assert row["from_bytes"] <= size_bytes < row["to_bytes"] == 2 * row["from_bytes"]


def test_the_matrix_by_rank_and_by_host() -> None:
    found = ring(4, hosts=2)
    matrix = communication_matrix(found)
    assert matrix.messages.tolist() == (10 * np.eye(4)[[1, 2, 3, 0]]).tolist()
    hosts = by_host(matrix, found.hosts)
    assert hosts.names == ("node0", "node1")
    assert hosts.bytes.tolist() == [[0, 20480], [20480, 0]]
    assert matrix.ordered([2, 3, 0, 1]).messages[0].tolist() == [0, 10, 0, 0]


def test_a_better_placement_saves_what_it_says() -> None:
    found = suggested_placement(ring(8, hosts=2))
    assert found is not None
    assert (found.before_bytes, found.crossing_bytes) == (8 * 10240, 2 * 10240)
    groups = np.array(found.groups)
    assert sorted(np.bincount(groups)) == [4, 4]
    assert crossing_bytes(communication_matrix(ring(8)).bytes, groups) == found.crossing_bytes


def test_a_placement_never_gets_worse() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        sizes = random.integers(0, 1000, (12, 12)).astype(float)
        used = random.integers(0, 3, 12).tolist()
        found = better_placement(sizes, used)
        if found is not None:
            assert sorted(np.bincount(found.groups)) == sorted(np.bincount(used))
            assert found.saved_bytes >= 0
    assert better_placement(sizes, [0] * 12) is None


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("MPI_Bcast", "bcast"),
        ("MPI_Ibcast", "bcast"),
        ("MPI_Allreduce_init", "allreduce"),
        ("MPI_Ineighbor_alltoallw", "neighbor_alltoallw"),
        ("MPI_Reduce_scatter_block", "reduce_scatter_block"),
        ("MPI_Intercomm_merge", "intercomm_merge"),
    ],
)
def test_forms_of_a_collective_are_one_operation(call: str, name: str) -> None:
    assert operation(call) == name
    assert is_non_blocking(call) == (
        call in ("MPI_Ibcast", "MPI_Ineighbor_alltoallw") or "init" in call
    )


def collective(rank: int, **more: object) -> dict[str, object]:
    usual = {"call": "MPI_Allreduce", "kind": "collective", "partner": -2, "size_bytes": 8}
    return {**usual, "count": 5, "bytes": 40, "time_s": 0.1 * rank, "rank": rank, **more}


def test_collectives_count_operations_not_calls() -> None:
    found = collective_calls(program(3, [collective(rank) for rank in range(3)]))
    row = found.row(0, named=True)
    assert (row["operations"], row["ranks"], row["bytes"]) == (5, 3, 120)
    assert row["time_s"] == pytest.approx(0.1)
    assert row["operation"] == "allreduce"


def test_time_is_that_of_the_busiest_thread() -> None:
    rows = [
        collective(0, thread=0, time_s=0.2, waiting_s=0.1),
        collective(0, thread=1, time_s=0.3, waiting_s=0.2),
    ]
    found = time_by_rank(program(2, rows, elapsed_s=2.0))
    assert found.rows() == [(0, 0.3, 0.2, 0.15, 0.1), (1, 0.0, 0.0, 0.0, 0.0)]


def test_waiting_has_a_cause() -> None:
    kinds = ("sent", "received", "collective", "waiting", "one-sided")
    rows = [{"call": "x", "kind": kind, "waiting_s": 1.0, "rank": 0} for kind in kinds]
    found = waiting_by_cause(program(1, rows))
    assert set(found["cause"]) == {"late receiver", "late sender", "collective", "completion"}


def test_arrivals_name_the_last() -> None:
    late = {0: (0.0, 1.0), 1: (0.5, 1.1), 2: (0.2, 5.0)}
    usual = {"call": "MPI_Barrier", "kind": "collective", "partner": -2}
    rows = [
        {**usual, "rank": rank, "start_s": start, "end_s": 6.0}
        for rank, starts in late.items()
        for start in starts
    ]
    found = arrivals(program(3, timeline=rows))
    assert found["last_rank"].to_list() == [1, 2]
    assert found["spread_s"].to_list() == pytest.approx([0.5, 4.0])
    assert found["waiting_s"].to_list() == pytest.approx([0.5 + 0.3, 4.0 + 3.9])


def test_messages_wait_for_who_is_late() -> None:
    message = {"communicator": 0, "tag": 7, "size_bytes": 8}
    send = {"call": "MPI_Send", "kind": "sent", "rank": 0, "partner": 1, **message}
    receive = {"call": "MPI_Recv", "kind": "received", "rank": 1, "partner": 0, **message}
    rows = [
        {**send, "start_s": 2.0, "end_s": 2.1},
        {**receive, "start_s": 0.5, "end_s": 2.2},
        {**send, "start_s": 3.0, "end_s": 4.5, "waiting_s": 1.4},
        {**receive, "start_s": 4.0, "end_s": 4.6},
    ]
    found = matched(program(2, timeline=rows))
    assert found["late_sender_s"].to_list() == pytest.approx([1.5, 0.0])
    assert found["late_receiver_s"].to_list() == pytest.approx([0.0, 1.0])


def bins(counts: list[int]) -> list[dict[str, object]]:
    return [
        {"kind": "sent", "start_s": 0.1 * at, "width_s": 0.1, "count": count, "bytes": 8 * count}
        for at, count in enumerate(counts)
        if count
    ]


def test_phases_are_found_where_the_rate_changes() -> None:
    found = rate_phases(program(2, bins=bins([100] * 20 + [0] * 15 + [1000] * 25)))
    assert [round(row["messages_per_s"]) for row in found] == [1000, 0, 10000]
    assert [row["start_s"] for row in found] == pytest.approx([0, 2.0, 3.5])
    assert found[-1]["end_s"] == pytest.approx(6.0)


def test_a_steady_program_has_one_phase() -> None:
    random = np.random.default_rng(5)
    found = rate_phases(program(2, bins=bins(random.poisson(50, 200).tolist())))
    assert len(found) == 1


def test_many_bins_are_put_together() -> None:
    found = rates_over_time(program(2, bins=bins([1] * 5000)))
    assert found.height <= 512
    assert found["messages"].sum() == 5000
    assert rates_over_time(program(2)).is_empty()
    assert rate_phases(program(2)) == []


def test_a_trace_opens_from_its_folder(tmp_path: Path) -> None:
    found = Program.open(stored(ring(4), tmp_path / "run"))
    assert (found.ranks, found.name, found.elapsed_s) == (4, "run", 1.0)
    assert isinstance(found.timeline, pl.DataFrame)
    assert communication_shape(found).words == "ring of 4 ranks, one way"


def test_waits_for_several_messages_at_once_count_once() -> None:
    # Rank 1 waits from 1 s on for two messages that rank 0 sends after 4 and 6 s, in one wait.
    made = timed(
        2,
        *(call(0, "MPI_Isend", "sent", 1, at_s, at_s, tag=tag) for tag, at_s in ((0, 4), (1, 6))),
        *(call(1, "MPI_Irecv", "received", 0, 0, 7, tag=tag) for tag in (0, 1)),
        call(1, "MPI_Waitall", "waiting", -2, 1, 7),
    )
    (row,) = late_pairs(made).filter(pl.col("cause") == "late sender").rows(named=True)
    assert (row["messages"], row["waiting_s"], row["longest_s"]) == (2, 5.0, 5.0)


def late(*notes: str) -> Program:
    """A message that is received late."""
    made = timed(
        2,
        call(0, "MPI_Send", "sent", 1, 4.0, 4.5),
        call(1, "MPI_Recv", "received", 0, 1.0, 5.0),
    )
    made.trace.notes = list(notes)
    made.trace.complete = not notes
    return made


@pytest.mark.parametrize(
    "note",
    [
        LOST[TIMELINE_CUT],
        LOST[DISK_FULL],
        "the timeline of rank 1 lacks 3 records: its file is cut off",
    ],
)
def test_of_a_part_only_the_counts_speak(note: str) -> None:
    whole, part = late(), late(note)
    assert (has_whole_timeline(whole), has_whole_timeline(part)) == (True, False)
    trees = efficiency(whole), efficiency(part)
    assert trees[0] is not None and trees[0].transfer_share is not None
    assert trees[1] is not None and trees[1].transfer_share is None
    assert trees[1].communication_share == trees[0].communication_share
    assert tolerances(whole) and not tolerances(part)
    assert network_curves(whole) and not network_curves(part)
    on = Messages(machine())
    methods = [predict_program(made, Target(on), on).method for made in (whole, part)]
    assert methods == [TIMELINE, COUNTS]
    with pytest.raises(InputError, match="no whole timeline"):
        curves([part])


def test_what_rounds_sizes_cuts_nothing() -> None:
    assert has_whole_timeline(late(LOST[SIZES_ROUNDED]))
    assert not has_whole_timeline(program(2))


def test_counts_are_whole_where_only_the_timeline_is_cut() -> None:
    part = late(LOST[TIMELINE_CUT])
    assert is_counted(part) and is_counted(late()) and not is_counted(late(LOST[DISK_FULL]))
    assert program_verdict(part).startswith("The timeline is cut off. ")
    assert program_verdict(late(LOST[DISK_FULL])).startswith("The trace is incomplete. ")
    unfinished = late(LOST[TIMELINE_CUT])
    unfinished.trace.ranks[0].finished = False
    assert not is_counted(unfinished)
