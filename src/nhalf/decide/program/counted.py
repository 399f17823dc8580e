"""A trace without a timeline on a different machine: each call costs the machine's time.

A rank's computing is the run minus its time in MPI; its waiting stays unchanged, because it results
from the other ranks' computing. A blocking receive costs the whole message, a nonblocking one and
every send only the processor's work. So overlapping messages are counted one after the other, and
the prediction tends to be too long. How much they may overlap, and how much longer ranks may wait,
are its lower and upper bound.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from nhalf.base.rows import Row
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.replay import Spent
from nhalf.facts.program.calls import time_by_rank
from nhalf.facts.program.operations import SCATTERS, is_begun_before, operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import Work


def counted(program: Program, costs: Costs, computing: float = 1.0) -> list[Spent]:
    """The time of every rank; its busiest thread represents it."""
    members = _members(program)
    times = {row["rank"]: row for row in time_by_rank(program).iter_rows(named=True)}
    threads = program.calls.group_by("rank", "thread").agg(pl.col("time_s").sum())
    busiest = threads.sort("time_s", "thread").group_by("rank").last().select("rank", "thread")
    rows = program.calls.join(busiest, on=["rank", "thread"], how="semi")
    spent = {rank: Spent() for rank in range(program.ranks)}
    for row in rows.iter_rows(named=True):
        rank_spent = spent[row["rank"]]
        if row["kind"] == "collective":
            each_s = costs.collective_s(*_work(row, members, program.ranks))
            rank_spent.collectives_s += row["count"] * each_s
        elif row["partner"] >= 0:
            each_s, least_s = _message_s(row, costs)
            rank_spent.messages_s += row["count"] * each_s
            rank_spent.least_s += row["count"] * least_s
    for rank, rank_spent in spent.items():
        measured = times[rank]
        outside_s = max(0.0, program.elapsed_s - measured["time_s"])
        rank_spent.computing_s = outside_s * computing
        rank_spent.waiting_s = measured["waiting_s"] * computing
        rank_spent.end_s = (
            rank_spent.computing_s
            + rank_spent.waiting_s
            + rank_spent.messages_s
            + rank_spent.collectives_s
        )
        rank_spent.least_s += rank_spent.computing_s + rank_spent.collectives_s
    return list(spent.values())


def counted_works(program: Program) -> Iterator[Work]:
    """Yield the operations: the call, its ranks, and the bytes of a rank's part."""
    members = _members(program)
    for row in program.calls.filter(pl.col("kind") == "collective").iter_rows(named=True):
        yield _work(row, members, program.ranks)


def _work(row: Row, members: Mapping[int, tuple[int, ...]], ranks: int) -> Work:
    """The operation of a row; of a root that holds all blocks to scatter, one block counts."""
    own = members.get(row["communicator"]) or tuple(range(ranks))
    is_all = operation(row["call"]) in SCATTERS and row["partner"] == row["rank"]
    return row["call"], own, int(row["size_bytes"]) // (len(own) if is_all else 1)


def _message_s(row: Row, costs: Costs) -> tuple[float, float]:
    """The cost of one message of a row for the row's rank, and its processor time, which nothing
    hides.
    """
    rank, partner, size_bytes = row["rank"], row["partner"], row["size_bytes"]
    if row["kind"] != "received":
        own_s = costs.busy_s(rank, partner, size_bytes)[0]
        return own_s, own_s
    sending_s, own_s = costs.busy_s(partner, rank, size_bytes)
    if is_begun_before(row["call"]):
        return own_s, own_s
    return costs.message_s(partner, rank, size_bytes) - sending_s, own_s


def longest_s(target: Sequence[Spent], origin: Sequence[Spent]) -> float:
    """The end if the ranks wait for each other as much longer as their calls take longer.

    Waiting is known from where the program was traced; how much of it is for messages is not.
    """
    calls_s, traced_s = (
        sum(actor.messages_s + actor.collectives_s for actor in actors)
        for actors in (target, origin)
    )
    longer = max(1.0, calls_s / traced_s) if traced_s > 0 else 1.0
    return max(actor.end_s + (longer - 1) * actor.waiting_s for actor in target)


def _members(program: Program) -> dict[int, tuple[int, ...]]:
    members = program.communicators.group_by("communicator").agg(pl.col("world_rank").sort())
    return {row[0]: tuple(row[1]) for row in members.iter_rows()}
