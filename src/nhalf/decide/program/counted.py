# SPDX-License-Identifier: Apache-2.0
"""A trace without a timeline on another machine: each call costs what the machine says.

A rank's computing is the run less its time in MPI; what it waited stays as it was, since it comes
from the other ranks' computing. A receive that has to wait costs the whole message, one that was
begun before and every send only what the processor does. So messages that overlap are counted
after each other, and the prediction is rather too long.
"""

from __future__ import annotations

import polars as pl

from nhalf.base.rows import Row
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.going import Spent
from nhalf.facts.program.completions import is_begun_before
from nhalf.facts.program.operations import SCATTERS, operation
from nhalf.facts.program.program import Program


def counted(program: Program, costs: Costs, computing: float = 1.0) -> list[Spent]:
    """What every rank spends; its busiest thread stands for it."""
    members = _members(program)
    times = {row["rank"]: row for row in program.time_by_rank.iter_rows(named=True)}
    threads = program.calls.group_by("rank", "thread").agg(pl.col("time_s").sum())
    busiest = threads.sort("time_s", "thread").group_by("rank").last().select("rank", "thread")
    rows = program.calls.join(busiest, on=["rank", "thread"], how="semi")
    spent = {rank: Spent() for rank in range(program.ranks)}
    for row in rows.iter_rows(named=True):
        one = spent[row["rank"]]
        if row["kind"] == "collective":
            ranks = members.get(row["communicator"]) or tuple(range(program.ranks))
            each_s = costs.collective_s(row["call"], ranks, _block_bytes(row, len(ranks)))
            one.collectives_s += row["count"] * each_s
        elif row["partner"] >= 0:
            one.messages_s += row["count"] * _message_s(row, costs)
    for rank, one in spent.items():
        measured = times[rank]
        outside_s = max(0.0, program.elapsed_s - measured["time_s"])
        one.computing_s = outside_s * computing
        one.waiting_s = measured["waiting_s"] * computing
        one.end_s = one.computing_s + one.waiting_s + one.messages_s + one.collectives_s
    return list(spent.values())


def _block_bytes(row: Row, ranks: int) -> int:
    """What a rank puts in; of a scatter, whose root puts in all blocks, one of them."""
    is_all = operation(row["call"]) in SCATTERS and row["partner"] == row["rank"]
    return int(row["size_bytes"]) // (ranks if is_all else 1)


def _message_s(row: Row, costs: Costs) -> float:
    """What one message of a row costs the rank that the row is of."""
    rank, partner, size_bytes = row["rank"], row["partner"], row["size_bytes"]
    if row["kind"] == "received":
        busy_s = costs.busy_s(partner, rank, size_bytes)
        if is_begun_before(row["call"]):
            return busy_s[1]
        return costs.message_s(partner, rank, size_bytes) - busy_s[0]
    return costs.busy_s(rank, partner, size_bytes)[0]


def _members(program: Program) -> dict[int, tuple[int, ...]]:
    found = program.communicators.group_by("communicator").agg(pl.col("world_rank").sort())
    return {row[0]: tuple(row[1]) for row in found.iter_rows()}
