# SPDX-License-Identifier: Apache-2.0
"""The memory hierarchy of a core: size, organisation and latency of each level."""

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
"""Pages that fit exceed the size of the cache by at least this factor if the page number selects
the set."""

HALFWAY = 1.3
"""An array half of whose loads miss is larger than the cache by about this factor."""

MISSING_SHARE = 0.1
"""All lines count as hits as long as a smaller share than this misses."""

SHARED = "size of shared levels: what lies behind level 2 is not told apart from memory"
"""Unresolved in every run, since it is not measured."""


@dataclass(frozen=True)
class Level:
    """One cache; None for properties that could not be resolved.

    `hit_cycles_median` is the latency of a dependent load, `miss_s` its additional latency if it
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
    """All levels, nearest first, memory behind them, and sentences about unresolved properties.

    `memory_s` is the latency of a dependent load from memory; None if arrays were too small.
    """

    levels: tuple[Level, ...]
    memory_s: float | None
    unresolved: tuple[str, ...]


def hierarchy(readings: Sequence[Reading]) -> Hierarchy:
    """The levels that the points of one core show."""
    steps = curve(readings)
    flat = plateaus(steps)
    if len(flat) < 2:
        return Hierarchy(
            (), None, ("no level of cache: latency has no steps in what was measured",)
        )
    unresolved: list[str] = []
    end = rise(steps, flat[1])
    levels = [_first(readings, flat, unresolved), _second(readings, end, flat, unresolved)]
    unresolved.append(SHARED)
    memory_s = flat[-1].latency_s if len(flat) > 2 else None
    return Hierarchy(tuple(levels), memory_s, tuple(unresolved))


def hit_limit_cycles(flat: Sequence[Plateau]) -> float:
    """The latency below which loads hit the first level."""
    return flat[0].cycles_median + MISSING_SHARE * (flat[1].cycles_median - flat[0].cycles_median)


def _first(readings: Sequence[Reading], flat: Sequence[Plateau], unresolved: list[str]) -> Level:
    """The nearest cache, from lines at power-of-two distances."""
    divided = sets(readings, hit_limit_cycles(flat))
    if divided is None or not _is_near(divided.size_bytes, flat[0], flat[1]):
        unresolved.append("size, ways and line of level 1: trials of its sets do not agree")
        return _unknown(1, flat)
    # One line more or less at the finest distance would have been seen.
    finest = 512
    ends = (float(divided.size_bytes - finest), float(divided.size_bytes + finest))
    return _level(1, flat, divided, ends)


def _second(
    readings: Sequence[Reading],
    end: Rise | None,
    flat: Sequence[Plateau],
    unresolved: list[str],
) -> Level:
    """The second cache, from pages that conflict; the latency behind it need not be flat."""
    cache = conflicts(readings)
    miss_s = end.miss_cycles * flat[1].latency_s / flat[1].cycles_median if end else None
    if cache and end and cache.fitting_bytes > MIXED_FACTOR * end.size_bytes:
        cache = _mixed(cache, end, flat[1])
    size = cache.size_bytes if cache else None
    if cache is None or size is None or size < flat[1].last_bytes / KNEE_FACTOR:
        unresolved.append("size, ways and line of level 2: trials of its sets do not agree")
        return replace(_unknown(2, flat), miss_s=miss_s)
    divided = Sets(cache.ways, size // cache.ways, cache.line_bytes, 1.0)
    return replace(_level(2, flat, divided, cache.size_ci), miss_s=miss_s)


def _mixed(cache: Conflicts, end: Rise, own: Plateau) -> Conflicts:
    """A cache whose sets are selected by bits of the whole address.

    Lines of more pages fit than the cache holds pages, since one offset in a page maps to many
    sets. The number of sets is the power of two nearest to the end of the level.
    """
    set_bytes = cache.ways * cache.line_bytes
    size = set_bytes * 2 ** round(log2(end.size_bytes / HALFWAY / set_bytes))
    ends = float(own.last_bytes), float(end.size_bytes)
    is_inside = ends[0] <= size <= ends[1]
    return replace(cache, size_bytes=size if is_inside else None, size_ci=ends)


def _is_near(size_bytes: int, own: Plateau, behind: Plateau) -> bool:
    low, high = own.last_bytes / KNEE_FACTOR, behind.first_bytes * KNEE_FACTOR
    return low < size_bytes < high


def _unknown(level: int, flat: Sequence[Plateau]) -> Level:
    """A level of which only the latency is known."""
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
    """The additional latency of the next level; None if there is none."""
    return flat[level].latency_s - flat[level - 1].latency_s if level < len(flat) else None
