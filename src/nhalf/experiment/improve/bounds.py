"""How much of a program's time a change can save at most, by a trace.

Calls that a change affects can take no time at all at best. Every rank still does everything else
except wait, so no rank r ends before T - m(r), where m(r) is its time in MPI; and what is saved on
the critical path is saved in affected calls. With affected messages these are a(r) on rank r. Of a
blocking collective operation k, which ranks i enter at e(i) and leave at l(i), rank i can leave no
earlier than when it and those arrived that it needs, which is n(i): so nobody after it is earlier
by more than d(k) = max_i l(i) - n(i), and a path through several operations by more than the sum of
theirs. The share saved is at most

    min(min_r m(r), sum_r a(r) + sum_k d(k)) / T

For a change that affects the start of the ranks as well, what the launch takes before and after
the program is added to both. All of this is without what other programs took of the ranks'
processors, where a timeline says so.
"""

from __future__ import annotations

import polars as pl

from nhalf.decide.program.undisturbed_program import undisturbed_program
from nhalf.facts.program.after_arrival import after_arrival
from nhalf.facts.program.calls import time_by_rank
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.program import Program, is_counted
from nhalf.mpi.switch import Affected

MESSAGE_KINDS = ("sent", "received", "one-sided")


def upper_share(program: Program | None, affected: Affected) -> float:
    """The largest share of the launch's time that a change can save; 1 if that is unknown."""
    if program is None or not program.is_timed or affected.computing:
        return 1.0
    program = undisturbed_program(program)
    whole_s = program.trace.end_s - program.trace.start_s
    in_mpi = time_by_rank(program)["time_s"]
    if whole_s <= 0 or not is_counted(program) or in_mpi.is_empty():
        return 1.0
    within_s = float(sum(in_mpi) if affected.everything else affected_s(program, affected))
    start_s = max(0.0, whole_s - program.elapsed_s) if affected.everything else 0.0
    saved_s = min(float(min(in_mpi)), within_s) + start_s
    return min(1.0, max(0.0, saved_s / whole_s))


def affected_s(program: Program, affected: Affected) -> float:
    """What a change can save in affected calls of all ranks, seconds.

    Waits belong to any message or operation that was begun before, so all of them count where one
    is affected.
    """
    blocking, begun = _collectives(program, affected)
    sizes = pl.col("size_bytes").is_between(affected.from_bytes, affected.to_bytes)
    is_waited_for = begun
    if affected.messages:
        is_waited_for |= pl.col("kind").is_in(MESSAGE_KINDS)
    chosen = program.calls.filter(sizes & is_waited_for)
    waits = program.calls.filter(pl.col("kind") == "waiting")["time_s"].sum()
    saved_s = float(chosen["time_s"].sum()) + (float(waits) if len(chosen) else 0.0)
    operations = after_arrival(program)
    if operations is None:
        return saved_s + float(program.calls.filter(sizes & blocking)["time_s"].sum())
    keys = ["communicator", "number", "call"]
    rows = operations.filter(blocking).with_columns(is_sized=sizes)
    longest = rows.group_by(keys).agg(pl.col("own_s").max(), pl.col("is_sized").any())
    return saved_s + float(longest.filter("is_sized")["own_s"].sum())


def _collectives(program: Program, affected: Affected) -> tuple[pl.Expr, pl.Expr]:
    """Which calls are affected collective operations: those that block, and those that begin one.

    Calls on communicators that were not traced may be on any number of ranks.
    """
    is_collective = pl.col("kind") == "collective"
    names = program.calls.filter(is_collective)["call"].unique().to_list()
    names = [name for name in names if operation(name) in affected.operations]
    members = program.communicators.group_by("communicator").agg(ranks=pl.len())
    apart = members.filter(pl.col("ranks") != affected.ranks)["communicator"].to_list()
    on_ranks = ~pl.col("communicator").is_in(apart) if affected.ranks else pl.lit(value=True)
    blocking = [name for name in names if not is_non_blocking(name)]
    begun = [name for name in names if is_non_blocking(name)]
    return (
        pl.col("call").is_in(blocking) & on_ranks,
        is_collective & pl.col("call").is_in(begun) & on_ranks,
    )
