# SPDX-License-Identifier: Apache-2.0
"""The excess of messages and operations without what others took of the ranks' processors in calls.

What a message took beyond its cost is the others' as far as they had the processor of its sender in
the send, or of its receiver in the call that ends with it; of an operation, those of any rank. Two
ranks may be queued one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.decide.program.excess import Excess
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import COLLECTIVE, SEND
from nhalf.facts.program.script import Operation, Script

_EARLY_S = 1e-9
"""A call and the span of what others took of it share their end, but for rounding."""
_Taken = tuple[int, int, float]
"""An actor, the place of a call, and what others took of it in seconds."""


def undisturbed_excess(program: Program, script: Script, excess: Excess) -> Excess:
    """The excess, less what others took in calls; the same if they took nothing."""
    sends_s, receives_s = np.zeros(len(script.route)), np.zeros(len(script.route))
    by_operation: dict[Operation, list[float]] = defaultdict(list)
    for number, place, queued_s in _taken(program, script):
        actor = script.actors[number]
        if actor.form_at(place).kind == COLLECTIVE:
            by_operation[actor.operation[place]].append(queued_s)
            continue
        own = actor.message[place]
        if own >= 0 and actor.form_at(place).kind == SEND:
            sends_s[own] += queued_s
        elif own >= 0:
            receives_s[own] += queued_s
        for message in script.awaited[number].get(place, ()):
            receives_s[message] += queued_s
    if not (by_operation or sends_s.any() or receives_s.any()):
        return excess
    return replace(
        excess,
        ways_s=_less(excess.ways_s, sends_s + receives_s),
        sends_s=_less(excess.sends_s, sends_s),
        receives_s=_less(excess.receives_s, receives_s),
        operations_s={
            (key, rank): seconds - min(max(seconds, 0.0), sum(sorted(by_operation[key])[-2:]))
            if key in by_operation
            else seconds
            for (key, rank), seconds in excess.operations_s.items()
        },
    )


def _less(excess_s: Floats, taken_s: Floats) -> Floats:
    """What is left of an excess; one that is none stays."""
    return np.asarray(excess_s - np.minimum(np.maximum(excess_s, 0.0), taken_s))


def _taken(program: Program, script: Script) -> Iterator[_Taken]:
    """The calls in which others had the processor."""
    rows = program.off_processor.filter(pl.col("in_call") & (pl.col("queued_s") > 0))
    numbers = {(actor.rank, actor.thread): at for at, actor in enumerate(script.actors)}
    for (rank, thread), own in rows.group_by(["rank", "thread"], maintain_order=True):
        number = numbers.get((int(str(rank)), int(str(thread))))
        if number is None or not script.actors[number].form:
            continue
        calls_s = script.actors[number].rows["end_s"].to_numpy()
        places = np.searchsorted(calls_s, own["end_s"].to_numpy() - _EARLY_S)
        for place, queued_s in zip(places.tolist(), own["queued_s"], strict=True):
            if place < len(calls_s):
                yield number, place, queued_s
