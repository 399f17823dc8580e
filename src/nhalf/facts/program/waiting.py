"""Causes of waiting: late senders, late receivers, late arrivals at a collective.

The tables of calls say how long each call waited. With a timeline the cause is known: for messages
it is found in late_messages.py; a collective is matched with the same call of the other ranks by
its number in the communicator.
"""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program

LATE_SENDER, LATE_RECEIVER, COLLECTIVE_WAIT, COMPLETION = (
    "late sender",
    "late receiver",
    "collective",
    "completion",
)
_CAUSES = {
    "received": LATE_SENDER,
    "sent": LATE_RECEIVER,
    "collective": COLLECTIVE_WAIT,
    "waiting": COMPLETION,
}


@fact
def waiting_by_cause(program: Program) -> pl.DataFrame:
    """Seconds by rank and cause: columns `rank`, `cause`, `waiting_s`.

    Waiting in MPI_Wait and its family counts as `completion`: only a timeline shows whose message
    it was for.
    """
    caused = program.calls.filter(pl.col("kind").is_in(list(_CAUSES))).with_columns(
        cause=pl.col("kind").replace_strict(list(_CAUSES), list(_CAUSES.values()), default="")
    )
    by_cause = caused.group_by("rank", "cause").agg(pl.col("waiting_s").sum())
    return by_cause.filter(pl.col("waiting_s") > 0).sort("rank", "cause")


@fact
def arrivals(program: Program) -> pl.DataFrame:
    """Each collective operation of a timeline: the last arrival, and its cost.

    Columns `communicator`, `call`, `number` in its communicator, `ranks`, `start_s` of the first,
    `spread_s` from the first to the last arrival, `last_rank`, `waiting_s` until the last arrival,
    summed over the others.
    """
    order = ["communicator", "call"]
    numbered = program.timeline.filter(pl.col("kind") == "collective").sort("rank", "start_s")
    numbered = numbered.with_columns(number=pl.int_range(pl.len()).over("rank", *order))
    last_s = pl.col("start_s").max()
    operations = numbered.group_by(*order, "number").agg(
        ranks=pl.len(),
        start_s=pl.col("start_s").min(),
        spread_s=last_s - pl.col("start_s").min(),
        last_rank=pl.col("rank").sort_by("start_s").last(),
        waiting_s=(last_s - pl.col("start_s")).sum(),
    )
    return operations.filter(pl.col("ranks") > 1).sort("start_s", *order)
