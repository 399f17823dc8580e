"""The contention within the program: without what others took of the ranks' processors.

What a message took beyond its cost is the others' as far as they had the processor of its sender or
its receiver while it was under way; of an operation, those of any rank in its call. Two ranks may
be queued one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.decide.program.contention import Contention
from nhalf.facts.program.disturbance import LEAST_S, NOBODY, queued
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import COLLECTIVE, messages, numbered
from nhalf.facts.program.script import Script

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
