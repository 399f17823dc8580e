"""The memory hierarchy of a core: size, organisation and latency of each level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2

from nhalf.node.plateaus import Knee, LoadTime, Plateau, curve, knee, terraces, undisturbed
from nhalf.node.reading import Reading
from nhalf.node.sets import Conflicts, Sets, conflicts, sets

KNEE_FACTOR = 1.5
"""A size from conflicts lies within this factor of where the curve of latencies rises."""

MIXED_FACTOR = 3.0
"""Pages that fit exceed the size of the cache by at least this factor if the page number selects
the set."""

HALFWAY = 1.3
"""An array half of whose loads miss is larger than the cache by about this factor."""

SHARED_PLACE = 2
"""The place of the shared level among plateaus, behind two private ones."""

MISSING_SHARE = 0.1
"""All lines count as hits as long as a smaller share than this misses."""

SHARED = "size of shared levels: what lies behind level 2 is not told apart from memory"
SHARED_SETS = "line and ways of level 3 are not measured; its size is this core's share"
UNSOUGHT = (SHARED, SHARED_SETS)
"""Unresolved in every run: measuring again does not help."""
FROM_SWEEP = "its size is that of arrays that begin to miss"


@dataclass(frozen=True)
class Level:
    """One cache; None for properties that could not be resolved.

    `hit_cycles_median` is the latency of a dependent load, `miss_s` its additional latency if it
    misses this level. A size that only the latencies of larger and larger arrays show is not in
    `size_bytes`, but lies in `size_ci`.
    """

    level: int
    hit_cycles_median: float
    hit_s: float
    size_bytes: int | None = None
    size_ci: tuple[float, float] | None = None
    line_bytes: int | None = None
    ways: int | None = None
    miss_s: float | None = None


@dataclass(frozen=True)
class Hierarchy:
    """All levels, nearest first, memory behind them, and sentences about unresolved properties.

    `memory_s` is the latency of a dependent load from memory; None if arrays were too small.
    """

    levels: tuple[Level, ...]
    memory_s: float | None
    unresolved: tuple[str, ...]


def hierarchy(readings: Sequence[Reading]) -> Hierarchy:
    """The levels that the points of one core show."""
    steps = undisturbed(curve(readings))
    flat = terraces(steps)
    if len(flat) < 2:
        return Hierarchy(
            (), None, ("no level of cache: latency has no steps in what was measured",)
        )
    unresolved: list[str] = []
    levels = [_first(readings, steps, flat, unresolved), _second(readings, steps, flat, unresolved)]
    if len(flat) > SHARED_PLACE + 1:
        levels.append(_of_sweep(SHARED_PLACE + 1, flat, ends(steps, flat, SHARED_PLACE)))
        unresolved.append(SHARED_SETS)
    else:
        unresolved.append(SHARED)
    memory_s = flat[-1].latency_s if len(flat) > SHARED_PLACE else None
    return Hierarchy(tuple(levels), memory_s, tuple(unresolved))


def ends(steps: Sequence[LoadTime], flat: Sequence[Plateau], place: int) -> Knee | None:
    """The end of the level at a place from 0 on; None if it was not seen."""
    return knee(steps, flat[place], flat[place + 1] if place + 1 < len(flat) else None)


def hit_limit_cycles(flat: Sequence[Plateau]) -> float:
    """The latency below which loads hit the first level."""
    return flat[0].cycles_median + MISSING_SHARE * (flat[1].cycles_median - flat[0].cycles_median)


def _first(
    readings: Sequence[Reading],
    steps: Sequence[LoadTime],
    flat: Sequence[Plateau],
    unresolved: list[str],
) -> Level:
    """The nearest cache, from lines at power-of-two distances."""
    divided = sets(readings, hit_limit_cycles(flat))
    low_bytes, high_bytes = flat[0].last_bytes / KNEE_FACTOR, flat[1].first_bytes * KNEE_FACTOR
    if divided is None or not low_bytes < divided.size_bytes < high_bytes:
        return _swept(1, flat, ends(steps, flat, 0), unresolved)
    # One line more or less at the finest distance would have been seen.
    finest = 512
    size_ci = (float(divided.size_bytes - finest), float(divided.size_bytes + finest))
    return _level(1, flat, divided, size_ci)


def _second(
    readings: Sequence[Reading],
    steps: Sequence[LoadTime],
    flat: Sequence[Plateau],
    unresolved: list[str],
) -> Level:
    """The second cache, from pages that conflict; the latency behind it need not be flat."""
    cache = conflicts(readings)
    end = ends(steps, flat, 1)
    cycle_s = flat[1].latency_s / flat[1].cycles_median
    miss_s = end.miss_cycles * cycle_s if end and end.miss_cycles else None
    if cache and end and cache.fitting_bytes > MIXED_FACTOR * end.half_bytes:
        cache = _mixed(cache, end)
    size = cache.size_bytes if cache else None
    if cache is None or size is None or size < flat[1].last_bytes / KNEE_FACTOR:
        return replace(_swept(2, flat, end, unresolved), miss_s=miss_s)
    divided = Sets(cache.ways, size // cache.ways, cache.line_bytes, 1.0)
    return replace(_level(2, flat, divided, cache.size_ci), miss_s=miss_s)


def _swept(level: int, flat: Sequence[Plateau], end: Knee | None, unresolved: list[str]) -> Level:
    """A level whose sets disagree: its size lies between arrays that hit and arrays that miss."""
    unknown = "ways and line" if end else "size, ways and line"
    reason = f"trials of its sets do not agree{f'; {FROM_SWEEP}' if end else ''}"
    unresolved.append(f"{unknown} of level {level}: {reason}")
    return _of_sweep(level, flat, end)


def _of_sweep(level: int, flat: Sequence[Plateau], end: Knee | None) -> Level:
    """A level of which only the latency is known, and the sizes at which arrays begin to miss."""
    own = flat[level - 1]
    size_ci = (float(end.fits_bytes), float(end.misses_bytes)) if end else None
    miss_s = _miss_s(level, flat)
    return Level(level, own.cycles_median, own.latency_s, size_ci=size_ci, miss_s=miss_s)


def _mixed(cache: Conflicts, end: Knee) -> Conflicts:
    """A cache whose sets are selected by bits of the whole address.

    Lines of more pages fit than the cache holds pages, since one offset in a page maps to many
    sets. The number of sets is the power of two nearest to the end of the level.
    """
    set_bytes = cache.ways * cache.line_bytes
    size = set_bytes * 2 ** round(log2(end.half_bytes / HALFWAY / set_bytes))
    size_ci = float(end.fits_bytes), float(end.misses_bytes)
    is_inside = size_ci[0] <= size <= size_ci[1]
    return replace(cache, size_bytes=size if is_inside else None, size_ci=size_ci)


def _level(
    level: int, flat: Sequence[Plateau], divided: Sets, size_ci: tuple[float, float]
) -> Level:
    own = flat[level - 1]
    return Level(
        level,
        own.cycles_median,
        own.latency_s,
        divided.size_bytes,
        size_ci,
        divided.line_bytes,
        divided.ways,
        _miss_s(level, flat),
    )


def _miss_s(level: int, flat: Sequence[Plateau]) -> float | None:
    """The additional latency of the next level; None if there is none."""
    return flat[level].latency_s - flat[level - 1].latency_s if level < len(flat) else None
