"""Transfers that wait to be overlapped: begun before computing, and moved only in the wait.

A wait is time that computing could have hidden as far as the rank computed between the call that
began the transfer and the wait, and as far as it did not wait for a partner that was late itself.
"""

from __future__ import annotations

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.critical_path import amounts_until_s
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import WAIT, Actor, schedule
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
