"""Messages beside computing: what overlaps, and how long they lie after their arrival.

A wait is time that computing could have hidden as far as the rank computed between the call that
began the transfer and the wait, and as far as it did not wait for a partner that was late itself.

No algorithm lets a rank leave a barrier, an allreduce, an allgather or an all-to-all before the
last rank came; a broadcast or a scatter before its root came; the root of a reduce or a gather
before the last rank came. What passes before that is not the operation's, and no other algorithm
can save it. Where that is not certain, the whole call counts: for ranks that only send to a root,
for operations with counts for each rank, scans and those among neighbours or between two groups,
for data of size 0, and where the calls of some member were not traced.
"""

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.critical_path import amounts_until_s
from nhalf.facts.program.operations import FOR_ALL, FROM_ROOT, TO_ROOT, is_non_blocking, operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import WAIT, Actor, numbered, schedule
from nhalf.facts.program.waits import waits

CALLS_MAX = 2_000_000
"""A longer timeline would take minutes."""


@fact
def overlap_share(program: Program) -> float:
    """The share of the run that computing could hide, as a mean over ranks; 0 if unknown."""
    length_s, calls = program.elapsed_s, len(program.timeline)
    if length_s <= 0 or program.ranks == 0 or not 0 < calls <= CALLS_MAX:
        return 0.0
    late = waits(program)
    hidden_s = 0.0
    for actor in schedule(program):
        own = late.filter(rank=actor.rank).sort("from_s")
        from_s, to_s = (own[name].to_numpy() for name in ("from_s", "to_s"))
        hidden_s += _hidden_s(actor, from_s, to_s)
    return min(1.0, hidden_s / program.ranks / length_s)


def _hidden_s(actor: Actor, late_from_s: Floats, late_to_s: Floats) -> float:
    """What computing could hide on one thread."""
    waits = np.concatenate([actor.completes.waits, actor.ended.waits])
    if not len(waits):
        return 0.0
    begun = np.full(len(actor.form), len(actor.form))
    np.minimum.at(begun, waits, np.concatenate([actor.completes.begun, actor.ended.begun]))
    begun = np.minimum(begun, np.arange(len(begun)))
    is_wait = np.array([form.kind == WAIT for form in actor.forms], bool)[actor.form]
    places = np.intersect1d(waits, np.flatnonzero(is_wait))
    computed_s = np.cumsum(actor.before_s)
    between_s = computed_s[places] - computed_s[begun[places]]
    end_s = actor.rows["end_s"].to_numpy()[places]
    waited_s = actor.measured_s[places]
    spans = (late_from_s, late_to_s, late_to_s - late_from_s)
    late_s = amounts_until_s(*spans, end_s) - amounts_until_s(*spans, end_s - waited_s)
    return float(np.minimum(between_s, np.maximum(waited_s - late_s, 0.0)).sum())


BY_COUNTS = ("scatterv", "gatherv")
"""Some ranks may have nothing to give or to get."""
UNNUMBERED = 65535
"""Communicators for which the tracer had no number left."""
_KEYS = ("communicator", "number", "call")


@fact
def after_arrival(program: Program) -> pl.DataFrame | None:
    """One row for each blocking call of a collective operation.

    Columns `call`, `communicator`, `number` (of the operation in the communicator), `ranks` of the
    communicator, `rank`, `size_bytes`, and `own_s` from when the rank could have left to when it
    did. None without a timeline of all of them, or without one clock for all ranks.
    """
    if not _is_known(program):
        return None
    members = program.communicators.group_by("communicator").agg(
        ranks=pl.len(), groups=pl.len() // pl.col("rank").n_unique()
    )
    rows = numbered(program).filter(pl.col("kind") == "collective")
    names = {call: operation(call) for call in rows["call"].unique() if not is_non_blocking(call)}
    rows = rows.filter(pl.col("call").is_in(list(names)))
    rows = rows.with_columns(operation=pl.col("call").replace_strict(names, default=""))
    rows = rows.join(members, on="communicator", how="left")
    came = rows.group_by(_KEYS).agg(
        last_s=pl.col("start_s").max(),
        here=pl.len(),
        least_bytes=pl.col("size_bytes").min(),
        is_root=(pl.col("rank") == pl.col("partner")).sum(),
        root_s=pl.col("start_s").filter(pl.col("rank") == pl.col("partner")).first(),
    )
    rows = rows.join(came, on=_KEYS)
    is_certain = (
        (pl.col("here") == pl.col("ranks"))
        & (pl.col("groups") == 1)
        & (pl.col("communicator") != UNNUMBERED)
        & ((pl.col("least_bytes") > 0) | _one_of("barrier"))
    )
    has_root = is_certain & (pl.col("is_root") == 1)
    from_root = has_root & _one_of(*(set(FROM_ROOT) - set(BY_COUNTS)))
    at_root = has_root & _one_of(*(set(TO_ROOT) - set(BY_COUNTS)))
    at_root &= pl.col("rank") == pl.col("partner")
    needed_s = (
        pl.when((is_certain & _one_of(*FOR_ALL)) | at_root)
        .then("last_s")
        .when(from_root)
        .then(pl.max_horizontal("root_s", "start_s"))
        .otherwise("start_s")
    )
    own_s = (pl.col("end_s") - needed_s).clip(0.0).alias("own_s")
    return rows.select("call", "communicator", "number", "ranks", "rank", "size_bytes", own_s)


@fact
def _is_known(program: Program) -> bool:
    """Whether every call was written down, by clocks that are one."""
    hosts = {record.host for record in program.trace.ranks}
    is_one_clock = len(hosts) <= 1 or program.trace.virtual is not None
    chosen = program.calls.filter(pl.col("kind") == "collective")
    rows = program.timeline.filter(pl.col("kind") == "collective")
    return is_one_clock and len(rows) > 0 and len(rows) == int(chosen["count"].sum())


def _one_of(*operations: str) -> pl.Expr:
    return pl.col("operation").is_in(sorted(operations))
