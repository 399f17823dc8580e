# SPDX-License-Identifier: Apache-2.0
"""A processor described by what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from msgspec.structs import replace

from nhalf.machines.processor import Cache, Processor
from nhalf.node.levels import Hierarchy, Level, hierarchy
from nhalf.node.reading import LOAD, STORE, UNIT, Reading
from nhalf.node.units import (
    joined_pairs,
    least_cycles,
    operations,
    single,
    together,
    waiting,
    window,
)
from nhalf.statistics.intervals import Interval


def measured(
    found: Sequence[Reading], run: str, environment: Mapping[str, Any]
) -> Processor | None:
    """The processor that the points of a run show; None if its units were not measured."""
    units = [one for one in found if one.pattern == UNIT]
    issue = single(units, "issue")
    if issue is None:
        return None
    levels = hierarchy(found)
    whole = single(units, "integer-store-forward", latency=True)
    hit_cycles = levels.levels[0].hit_cycles_median if levels.levels else None
    host = str(environment.get("host") or "here")
    return Processor(
        name=host,
        title=str(environment.get("processor", "")),
        source=f"measured by nhalf, run {run}",
        unknown=(*levels.unresolved, "which operations share a unit, but sums and products"),
        clock_hz=1 / median(one.cycle_s for one in units),
        issue_per_cycle=issue.high,
        store_forward_cycles=_store_forward(units),
        integer_store_forward_cycles=_without_addition(units, whole),
        window_instructions=window(units, issue.high),
        waiting_instructions=waiting(units),
        joined_pairs=tuple(joined_pairs(units)),
        operations=tuple(operations(units, hit_cycles)),
        units=tuple(together(units)),
        caches=tuple(_caches(levels, found)),
        environment={"host": host},
    )


def _store_forward(units: Sequence[Reading]) -> float | None:
    """From the store of a real number to its use: at once, or with an addition and others."""
    alone = single(units, "store-forward", latency=True)
    with_sum = single(units, "store-forward-add", latency=True)
    add = next((one for one in operations(units) if one.key == "add"), None)
    found = [alone.low] if alone else []
    if with_sum and add and add.least_cycles:
        found.append(with_sum.low - (add.latency_to_others_cycles or add.least_cycles))
    return min(found, default=None)


def _without_addition(units: Sequence[Reading], both: Interval | None) -> float | None:
    """What a counter in memory waits for its store, without the addition of one."""
    add = single(units, "integer-add", latency=True)
    return max(0.0, both.low - (add.low if add else 1.0)) if both else None


def _caches(found: Hierarchy, looks: Sequence[Reading]) -> list[Cache]:
    """The levels that were resolved, as far as no nearer one is missing."""
    caches: list[Cache] = []
    for level in found.levels:
        if level.size_bytes is None or level.line_bytes is None:
            break
        one = _cache(level, level.size_bytes, level.line_bytes)
        if caches:
            ends = 2 * caches[-1].size_bytes, one.size_bytes // 2
            loaded = line_cycles(looks, LOAD, ends, one.line_bytes)
            stored = line_cycles(looks, STORE, ends, one.line_bytes)
            one = replace(one, load_line_cycles=loaded, store_line_cycles=stored)
        caches.append(one)
    return caches


def line_cycles(
    looks: Sequence[Reading], pattern: str, ends_bytes: tuple[int, int], line_bytes: int
) -> float | None:
    """Cycles of a line in a sweep over arrays between two sizes; None if there was none.

    A neighbour only adds: the quickest look counts.
    """
    return min(
        (
            least_cycles(one)
            for one in looks
            if one.pattern == pattern
            and one.stride_bytes == line_bytes
            and ends_bytes[0] <= one.size_bytes <= ends_bytes[1]
        ),
        default=None,
    )


def _cache(level: Level, size_bytes: int, line_bytes: int) -> Cache:
    per_cycle_s = level.hit_s / level.hit_cycles_median
    return Cache(
        level=level.level,
        size_bytes=size_bytes,
        size_ci=level.size_ci,
        line_bytes=line_bytes,
        ways=level.ways,
        hit_cycles=level.hit_cycles_median,
        load_miss_cycles=level.miss_s / per_cycle_s if level.miss_s else None,
    )
