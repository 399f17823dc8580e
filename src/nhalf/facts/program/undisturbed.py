"""A program's script without what others took of its ranks' processors between calls."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Script, script

_EARLY_S = 1e-9
"""A span between calls and the call after it share a moment, but for rounding."""


@fact
def undisturbed(program: Program) -> Script:
    """The script, in which each time outside MPI is shorter by what others took of it."""
    whole = script(program)
    rows = program.off_processor.filter(~pl.col("in_call") & (pl.col("queued_s") > 0))
    if rows.is_empty():
        return whole
    spans = {
        (int(str(rank)), int(str(thread))): own
        for (rank, thread), own in rows.group_by(["rank", "thread"], maintain_order=True)
    }
    actors = [
        _shortened(actor, spans[actor.rank, actor.thread])
        if (actor.rank, actor.thread) in spans
        else actor
        for actor in whole.actors
    ]
    return replace(whole, actors=actors)


def _shortened(actor: Actor, spans: pl.DataFrame) -> Actor:
    """The actor without what others took before its calls, and after the last one."""
    starts_s = actor.rows["start_s"].to_numpy() if len(actor.form) else np.zeros(0)
    places: Sequence[int] = np.searchsorted(starts_s, spans["end_s"].to_numpy() - _EARLY_S).tolist()
    before_s, after_s = actor.before_s.copy(), actor.after_s
    for place, queued_s in zip(places, spans["queued_s"], strict=True):
        if place < len(before_s):
            before_s[place] = max(0.0, before_s[place] - queued_s)
        else:
            after_s = max(0.0, after_s - queued_s)
    return replace(actor, before_s=before_s, after_s=after_s)
