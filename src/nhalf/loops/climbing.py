"""All rungs of a climb: bounds from the source, emitted loops, and a measured time."""

from collections.abc import Sequence

from nhalf.loops.builds import Build
from nhalf.loops.climb import Climb
from nhalf.loops.rungs import Rungs
from nhalf.loops.source.ma_bounds import Bound


def climb(
    bounds: Sequence[Bound],
    loops: Sequence[Rungs],
    build: Build,
    measured_cycles: float | None,
    followed_cycles: float | None = None,
) -> Climb:
    """Sum the rungs of loops with equal trip counts, for one iteration of each.

    Without `loops`, emitted operations are unknown; without `bounds`, essential ones. Where
    instructions were followed, their time is MACS, not the dependency chain in the listing.
    """
    scheduled_cycles = sum(rungs.scheduled_cycles for rungs in loops) if loops else None
    essential_loads = sum(bound.counts.loads for bound in bounds)
    return Climb(
        essential_cycles=sum(bound.cycles for bound in bounds) if bounds else None,
        emitted_cycles=sum(rungs.emitted_cycles for rungs in loops) if loops else None,
        scheduled_cycles=scheduled_cycles if followed_cycles is None else followed_cycles,
        measured_cycles=measured_cycles,
        is_optimised=build.is_optimised,
        is_vector=any(rungs.is_vector for rungs in loops),
        is_fused=_is_fused(bounds, loops),
        loads_ratio=sum(rungs.loads for rungs in loops) / essential_loads
        if essential_loads
        else 1.0,
        spills_per_iteration=sum(rungs.spills_per_iteration for rungs in loops),
    )


def _is_fused(bounds: Sequence[Bound], loops: Sequence[Rungs]) -> bool:
    """Whether multiply-adds are fused, or the loop has none."""
    fusible_pairs = sum(bound.counts.of("fused_multiply_add") for bound in bounds)
    return not fusible_pairs or any(rungs.amount("fused_multiply_add") for rungs in loops)
