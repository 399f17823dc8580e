# SPDX-License-Identifier: Apache-2.0
"""How much of a program's time a change can save at most, by a trace.

Calls that a change affects can take no time at all at best. Every rank still does everything else
except wait, so no rank r ends before T - m(r), where m(r) is its time in MPI; and what is saved on
the critical path is saved in affected calls of some rank, which take a(r) there. So the share saved
is at most

    min(min_r m(r), sum_r a(r)) / T

For a change that affects the start of the ranks as well, what the launch takes before and after
the program is added to both.
"""

from __future__ import annotations

import polars as pl

from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.time_in_mpi import time_by_rank
from nhalf.mpi.affected import Affected

MESSAGE_KINDS = ("sent", "received", "one-sided")


def upper_share(program: Program | None, affected: Affected) -> float:
    """The largest share of the launch's time that a change can save; 1 if that is unknown."""
    if program is None or affected.computing:
        return 1.0
    whole_s = program.trace.end_s - program.trace.start_s
    in_mpi = time_by_rank(program)["time_s"]
    if whole_s <= 0 or not program.trace.complete or in_mpi.is_empty():
        return 1.0
    within_s = float(sum(in_mpi) if affected.everything else affected_s(program, affected))
    start_s = max(0.0, whole_s - program.elapsed_s) if affected.everything else 0.0
    saved_s = min(float(min(in_mpi)), within_s) + start_s
    return min(1.0, max(0.0, saved_s / whole_s))


def affected_s(program: Program, affected: Affected) -> float:
    """The time of all ranks in affected calls, seconds.

    Waits belong to any message that was begun before, so all of them count where one is affected.
    """
    calls = program.calls.filter(pl.col("size_bytes").is_between(*_ends(affected)))
    names = calls["call"].unique().to_list()
    collectives = [name for name in names if operation(name) in affected.operations]
    is_affected = (pl.col("kind") == "collective") & pl.col("call").is_in(collectives)
    if affected.messages:
        is_affected |= pl.col("kind").is_in(MESSAGE_KINDS)
    chosen = calls.filter(is_affected)
    if chosen.is_empty():
        return 0.0
    waits = program.calls.filter(pl.col("kind") == "waiting")["time_s"].sum()
    return float(chosen["time_s"].sum()) + float(waits)


def _ends(affected: Affected) -> tuple[float, float]:
    return affected.from_bytes, affected.to_bytes
