# SPDX-License-Identifier: Apache-2.0
"""Replays of one program with several costs: all at once where that is faster.

That needs an order of its calls that does not depend on times (event_graph.py), and that many of
them share a level: each level takes as long as STEPS_PER_BATCH steps of a single replay.
"""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.decide.program.actor_state import Spent
from nhalf.decide.program.event_graph import EventGraph, event_graph, levels_min
from nhalf.decide.program.level_replay import LevelReplay, Variant
from nhalf.decide.program.replay import Replay, has_large_sends
from nhalf.decide.program.undisturbed import undisturbed
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program

STEPS_PER_BATCH = 20
"""Measured with timelines of a million calls of 16 ranks."""


def replays(program: Program, variants: Sequence[Variant]) -> list[tuple[list[Spent], int]]:
    """The times of every actor for each variant, and how many sends had to be forced in it."""
    script = undisturbed(program)
    has_large = any(has_large_sends(script, costs) for costs, _ in variants)
    graph = None if has_large else _graph_if_faster(program, len(variants))
    if graph is not None:
        return [(spent, 0) for spent in LevelReplay(script, graph, variants).run()]
    several = [Replay(script, costs, computing) for costs, computing in variants]
    return [(replay.run(), replay.forced) for replay in several]


def _graph_if_faster(program: Program, variants: int) -> EventGraph | None:
    """The graph of events, if that many replays take less time with it."""
    script = undisturbed(program)
    steps = variants * sum(len(actor.form) for actor in script.actors)
    if _levels_min(program) * STEPS_PER_BATCH > steps:
        return None
    graph = _graph(program)
    return graph if graph and len(graph.batches) * STEPS_PER_BATCH <= steps else None


@fact
def _levels_min(program: Program) -> int:
    return levels_min(undisturbed(program))


@fact
def _graph(program: Program) -> EventGraph | None:
    return event_graph(undisturbed(program))
