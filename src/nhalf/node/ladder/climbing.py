# SPDX-License-Identifier: Apache-2.0
"""The rungs of loops put together: bounds from the source, listings, and a time."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.node.bound.bounds import Bound
from nhalf.node.ladder.builds import Build
from nhalf.node.ladder.climb import Climb
from nhalf.node.ladder.rungs import Rungs


def climb(
    bounds: Sequence[Bound],
    loops: Sequence[Rungs],
    build: Build,
    measured_cycles: float | None,
    followed_cycles: float | None = None,
) -> Climb:
    """All rungs of loops that run as often: those of one iteration of each.

    Without `loops`, what was emitted is unknown; without `bounds`, what is essential. Where
    instructions were followed, that is MACS, and not the chain that the listing shows.
    """
    scheduled = sum(one.scheduled_cycles for one in loops) if loops else None
    essential = sum(one.counts.loads for one in bounds)
    return Climb(
        essential_cycles=sum(one.cycles for one in bounds) if bounds else None,
        emitted_cycles=sum(one.emitted_cycles for one in loops) if loops else None,
        scheduled_cycles=scheduled if followed_cycles is None else followed_cycles,
        measured_cycles=measured_cycles,
        is_optimised=build.is_optimised,
        is_vector=any(one.is_vector for one in loops),
        is_fused=_is_fused(bounds, loops),
        loads_ratio=sum(one.loads for one in loops) / essential if essential else 1.0,
        spills_per_iteration=sum(one.spills_per_iteration for one in loops),
    )


def _is_fused(bounds: Sequence[Bound], loops: Sequence[Rungs]) -> bool:
    """Whether something is fused, or nothing could be."""
    could = sum(one.counts.of("fused_multiply_add") for one in bounds)
    return not could or any(one.amount("fused_multiply_add") for one in loops)
