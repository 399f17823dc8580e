"""A program as it would have run if others had taken nothing of its ranks' processors.

Its calls are replayed with what each took beyond its cost, less what others took of that. When they
begin and end then is a timeline like the one that was traced, so that whatever is known of a
program is known of it without others, and has one run time.

What a message took beyond its cost is the others' as far as they had the processor of its sender or
its receiver while it was under way; of an operation, those of any rank in its call. Two ranks may
be queued one after the other.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from msgspec.structs import replace as with_fields

from nhalf.base.arrays import Floats
from nhalf.decide.program.contention import Contention, contention
from nhalf.decide.program.replay import replay
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.fact import fact
from nhalf.facts.program.calls import has_threads
from nhalf.facts.program.disturbance import LEAST_S, NOBODY, queued, taken_from_run_s, undisturbed
from nhalf.facts.program.operations import POLLS, is_begun_before
from nhalf.facts.program.program import Program, has_whole_timeline
from nhalf.facts.program.schedule import COLLECTIVE, Actor, messages, numbered
from nhalf.facts.program.script import Script
from nhalf.measure.traced.tables import OFF_PROCESSOR, TIMELINE

_KEYS = ["rank", "thread", "call", "kind", "communicator", "partner", "size_bytes"]
_NAMES = pl.col(pl.Categorical, pl.Enum).cast(pl.String)
"""The names of calls and kinds as text, as all tables but the timeline have them."""
_KEYS_AT_SITES = ["rank", "thread", "site", "call", "size_bytes"]


@fact
def undisturbed_program(program: Program) -> Program:
    """The program without others; as it was traced if they took nothing or nobody knows.

    Nobody does where several threads of a rank call MPI: one that sleeps may wait for another one
    that others kept from its processor.
    """
    is_known = has_whole_timeline(program) and not has_threads(program)
    if not queued(program) or not is_known or program.elapsed_s <= 0:
        return program
    script, costs = undisturbed(program), TracedCosts(program)
    alone = undisturbed_contention(program, script, contention(script, costs))
    followed = replay(script, costs, contention=alone, follows=True)
    spans = [followed.spans_s(place) for place in range(len(script.actors))]
    if not all(np.isfinite(ends_s).all() for _, ends_s in spans):
        return program
    first_s = min(record.begin_s for record in program.trace.ranks)
    rows = [
        _rows(actor, first_s + begins_s, first_s + ends_s[:-1])
        for actor, (begins_s, ends_s) in zip(script.actors, spans, strict=True)
        if len(actor.form)
    ]
    ends_s = {
        actor.rank: first_s + float(own_s[-1])
        for actor, (_, own_s) in zip(script.actors, spans, strict=True)
        if actor.thread == 0
    }
    timeline = pl.concat(rows)
    nothing = dict.fromkeys(("off_s", "queued_s", "in_calls_off_s", "in_calls_queued_s"))
    ranks = [
        with_fields(record, end_s=ends_s.get(record.rank, record.end_s), **nothing)
        for record in program.trace.ranks
    ]
    alone_program = replace(
        program,
        timeline=timeline,
        calls=_lasting(program.calls, _KEYS, program.timeline, timeline),
        call_sites=_lasting(program.call_sites, _KEYS_AT_SITES, program.timeline, timeline),
        bins=_bins(program.bins, timeline),
        trace=with_fields(program.trace, ranks=ranks),
        off_processor=pl.DataFrame(schema=OFF_PROCESSOR),
        as_traced=program,
    )
    saved_s = program.elapsed_s - alone_program.elapsed_s
    trace = with_fields(alone_program.trace, end_s=alone_program.trace.end_s - saved_s)
    return replace(alone_program, trace=trace)


@fact
def undisturbed_elapsed_s(program: Program) -> float:
    """The run time without what others took; without a timeline nobody knows, so as measured."""
    return undisturbed_program(program).elapsed_s


@fact
def disturbance_doubt_ratio(program: Program) -> float:
    """How far two ways apart are to find that run time: the replay, and the critical path as it was
    without what others took of it, on which another path may be longer.
    """
    alone_s = undisturbed_elapsed_s(program)
    path_s = program.elapsed_s - taken_from_run_s(program)
    if alone_s == program.elapsed_s:
        return 1.0
    return max(alone_s / path_s, path_s / alone_s) if min(alone_s, path_s) > 0 else math.inf


def _rows(actor: Actor, begins_s: Floats, ends_s: Floats) -> pl.DataFrame:
    """The calls of an actor with other times. A receive ends with the wait that completes it; of
    one that none completes it is not known when it does.
    """
    ends_s = np.maximum(begins_s, ends_s)
    ends_s[actor.completes.begun] = ends_s[actor.completes.waits]
    whole_s = pl.col("end_s") - pl.col("start_s")
    times = [pl.Series("start_s", begins_s), pl.Series("end_s", ends_s)]
    rows = actor.rows.with_columns(times)
    return rows.select(list(TIMELINE)).with_columns(pl.min_horizontal("waiting_s", whole_s))


def _lasting(
    rows: pl.DataFrame, keys: list[str], before: pl.DataFrame, after: pl.DataFrame
) -> pl.DataFrame:
    """Counted calls with the time that they take in the timeline after, over that before.

    Polls of a loop are one call there, with the time between them: they do not become longer.
    """

    def taken_s(timeline: pl.DataFrame, name: str) -> pl.DataFrame:
        whole_s = (pl.col("end_s") - pl.col("start_s")).sum()
        return timeline.group_by(keys).agg(whole_s.alias(name)).with_columns(_NAMES)

    begun = [call for call in rows["call"].unique() if is_begun_before(call)]
    ratio = pl.col("after_s") / pl.col("before_s")
    is_changed = (pl.col("before_s") > 0) & ~pl.col("call").is_in(begun)
    is_changed &= (ratio < 1) | ~pl.col("call").is_in(POLLS)
    compared = rows.join(taken_s(before, "before_s"), on=keys, how="left", maintain_order="left")
    compared = compared.join(taken_s(after, "after_s"), on=keys, how="left", maintain_order="left")
    ratio = pl.when(is_changed & ratio.is_not_null()).then(ratio).otherwise(1.0)
    return compared.with_columns(pl.col("time_s", "waiting_s") * ratio).select(rows.columns)


def _bins(bins: pl.DataFrame, timeline: pl.DataFrame) -> pl.DataFrame:
    """The calls of a timeline in spans of time as wide as those of `bins`, by when they begin."""
    if bins.is_empty():
        return bins
    width_s = float(bins["width_s"][0])
    place = (pl.col("start_s") / width_s).floor()
    counted = timeline.group_by("rank", "thread", (place * width_s).alias("start_s"), "kind").agg(
        count=pl.len().cast(pl.Int64),
        bytes=pl.col("size_bytes").sum(),
        time_s=(pl.col("end_s") - pl.col("start_s")).sum(),
    )
    return (
        counted.with_columns(_NAMES, width_s=pl.lit(width_s))
        .select(bins.columns)
        .sort("rank", "thread", "start_s", "kind")
    )


WAITS = 0.5
"""A send that takes this share of its message's way has waited for the receiver."""
_EARLY_S = 1e-9
"""A call and the span of what others took of it share their end, but for rounding."""


def undisturbed_contention(program: Program, script: Script, contention: Contention) -> Contention:
    """The contention, less what others took; the same if they took nothing."""
    if not queued(program):
        return contention
    by_operation: dict[int, list[float]] = defaultdict(list)
    for operation, queued_s in _in_operations(program, script):
        by_operation[operation].append(queued_s)
    taken_s = np.zeros(script.parts.operations)
    for operation, by_rank_s in by_operation.items():
        taken_s[operation] = sum(sorted(by_rank_s)[-2:])
    way_s, send_s = _under_way_s(program, contention)
    return replace(
        contention,
        transits_s=_less(contention.transits_s, way_s),
        sends_s=_less(contention.sends_s, send_s),
        receives_s=_less(contention.receives_s, way_s),
        operations_s=_less(contention.operations_s, taken_s[script.parts.operation]),
    )


def _less(contention_s: Floats, taken_s: Floats) -> Floats:
    """What is left of contention; where there is none, it stays."""
    return np.asarray(contention_s - np.minimum(np.maximum(contention_s, 0.0), taken_s))


def _under_way_s(program: Program, contention: Contention) -> tuple[Floats, Floats]:
    """By message: how long others had the processors of both ends on its way, and in its send.

    Only those with a notable contention are looked at.
    """
    calls, pairs, by_rank = numbered(program), messages(program), queued(program)
    starts_s, ends_s = (calls[name].to_numpy() for name in ("start_s", "end_s"))
    sent, received = (pairs[name].to_numpy() for name in ("row", "row_received"))
    ends = pairs.select("source", "target").to_numpy()
    way_s, send_s = np.zeros(len(pairs)), np.zeros(len(pairs))
    most_s = np.maximum.reduce([contention.transits_s, contention.sends_s, contention.receives_s])
    for message in np.flatnonzero(most_s > LEAST_S).tolist():
        begin_s, left_s = float(starts_s[sent[message]]), float(ends_s[sent[message]])
        arrived_s = float(ends_s[received[message]])
        waits = left_s - begin_s >= WAITS * (arrived_s - begin_s)
        for rank, counts in zip(ends[message].tolist(), (True, waits), strict=True):
            spans = by_rank.get(rank, NOBODY)
            way_s[message] += spans.most_within_s(begin_s, arrived_s)
            if counts:
                send_s[message] += spans.most_within_s(begin_s, left_s)
    return way_s, send_s


def _in_operations(program: Program, script: Script) -> Iterator[tuple[int, float]]:
    """The operations in whose calls others had a processor, and for how long, rank by rank."""
    rows = program.off_processor.filter(pl.col("in_call") & (pl.col("queued_s") > 0))
    actors = {
        (actor.rank, actor.thread): (actor, int(first))
        for actor, first in zip(script.actors, script.first, strict=False)
    }
    for (rank, thread), own in rows.group_by(["rank", "thread"], maintain_order=True):
        actor, first = actors.get((int(str(rank)), int(str(thread))), (None, 0))
        if actor is None or not len(actor.form):
            continue
        calls_s = actor.rows["end_s"].to_numpy()
        places = np.searchsorted(calls_s, own["end_s"].to_numpy() - _EARLY_S)
        for place, queued_s in zip(places.tolist(), own["queued_s"], strict=True):
            if place < len(calls_s) and actor.form_at(place).kind == COLLECTIVE:
                yield int(script.parts.operation[script.parts.at(first + place)]), queued_s
