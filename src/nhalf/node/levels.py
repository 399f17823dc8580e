# SPDX-License-Identifier: Apache-2.0
"""The memory hierarchy of a core: what each level holds, how it is divided, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2

from nhalf.node.conflicts import Conflicts, conflicts
from nhalf.node.plateaus import Plateau, Rise, curve, plateaus, rise
from nhalf.node.reading import Reading
from nhalf.node.sets import Sets, sets

KNEE_FACTOR = 1.5
"""A size from conflicts lies within this factor of where the curve of latencies rises."""

MIXED_FACTOR = 3.0
"""Pages that fit are at least so much more than the cache holds where their bits are mixed in."""

HALFWAY = 1.3
"""An array of which half of the loads miss is about this much larger than the cache."""

MISSING_SHARE = 0.1
"""Lines hit as long as fewer of them than this miss."""

SHARED = "size of shared levels: what lies behind level 2 is not told apart from memory"
"""What no repetition resolves, since it is not looked for."""


@dataclass(frozen=True)
class Level:
    """One cache; None for what could not be resolved.

    `hit_cycles_median` is what a dependent load takes, and `miss_s` what one takes longer when it
    misses this level.
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
    """All levels, nearest first, memory behind them, and what could not be resolved, in sentences.

    `memory_s` is a dependent load from memory; None if arrays were too small for that.
    """

    levels: tuple[Level, ...]
    memory_s: float | None
    unresolved: tuple[str, ...]


def hierarchy(found: Sequence[Reading]) -> Hierarchy:
    """The levels that one core's points show."""
    steps = curve(found)
    flat = plateaus(steps)
    if len(flat) < 2:
        return Hierarchy(
            (), None, ("no level of cache: latency has no steps in what was measured",)
        )
    unresolved: list[str] = []
    end = rise(steps, flat[1])
    levels = [_first(found, flat, unresolved), _second(found, end, flat, unresolved)]
    unresolved.append(SHARED)
    memory_s = flat[-1].latency_s if len(flat) > 2 else None
    return Hierarchy(tuple(levels), memory_s, tuple(unresolved))


def hit_limit_cycles(flat: Sequence[Plateau]) -> float:
    """Loads that take less hit the first level."""
    return flat[0].cycles_median + MISSING_SHARE * (flat[1].cycles_median - flat[0].cycles_median)


def _first(found: Sequence[Reading], flat: Sequence[Plateau], unresolved: list[str]) -> Level:
    """The nearest cache, by lines at a distance."""
    near = sets(found, hit_limit_cycles(flat))
    if near is None or not _is_near(near.size_bytes, flat[0], flat[1]):
        unresolved.append("size, ways and line of level 1: looks at its sets do not agree")
        return _unknown(1, flat)
    # One line more or less at the finest distance would have been seen.
    finest = 512
    ends = (float(near.size_bytes - finest), float(near.size_bytes + finest))
    return _level(1, flat, near, ends)


def _second(
    found: Sequence[Reading],
    end: Rise | None,
    flat: Sequence[Plateau],
    unresolved: list[str],
) -> Level:
    """The cache behind the nearest, by pages in each other's way; what is next may not be flat."""
    behind = conflicts(found)
    miss_s = end.miss_cycles * flat[1].latency_s / flat[1].cycles_median if end else None
    if behind and end and behind.fitting_bytes > MIXED_FACTOR * end.size_bytes:
        behind = _mixed(behind, end, flat[1])
    size = behind.size_bytes if behind else None
    if behind is None or size is None or size < flat[1].last_bytes / KNEE_FACTOR:
        unresolved.append("size, ways and line of level 2: looks at its sets do not agree")
        return replace(_unknown(2, flat), miss_s=miss_s)
    divided = Sets(behind.ways, size // behind.ways, behind.line_bytes, 1.0)
    return replace(_level(2, flat, divided, behind.size_ci), miss_s=miss_s)


def _mixed(behind: Conflicts, end: Rise, own: Plateau) -> Conflicts:
    """A cache whose sets are chosen by bits of the whole address.

    Lines of more pages fit than it has room for, since they lie in more than the sets of one place
    of a page. It has a power of two of sets, as many as are nearest to the end of the level.
    """
    set_bytes = behind.ways * behind.line_bytes
    size = set_bytes * 2 ** round(log2(end.size_bytes / HALFWAY / set_bytes))
    ends = float(own.last_bytes), float(end.size_bytes)
    is_inside = ends[0] <= size <= ends[1]
    return replace(behind, size_bytes=size if is_inside else None, size_ci=ends)


def _is_near(size_bytes: int, here: Plateau, behind: Plateau) -> bool:
    low, high = here.last_bytes / KNEE_FACTOR, behind.first_bytes * KNEE_FACTOR
    return low < size_bytes < high


def _unknown(level: int, flat: Sequence[Plateau]) -> Level:
    """A level of which only its latency is known."""
    own = flat[level - 1]
    return Level(level, own.cycles_median, own.latency_s, miss_s=_miss_s(level, flat))


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
    """What the next level takes longer; None if there is none."""
    return flat[level].latency_s - flat[level - 1].latency_s if level < len(flat) else None
