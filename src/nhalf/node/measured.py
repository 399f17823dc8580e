# SPDX-License-Identifier: Apache-2.0
"""A processor described by what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from nhalf.machines.processor import Cache, Processor
from nhalf.node.levels import Hierarchy, Level, hierarchy
from nhalf.node.reading import UNIT, Reading
from nhalf.node.units import operations, single, together
from nhalf.statistics.intervals import Interval


def measured(
    found: Sequence[Reading], run: str, environment: Mapping[str, Any]
) -> Processor | None:
    """The processor that the points of a run show; None where its units were not measured."""
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
        operations=tuple(operations(units, hit_cycles)),
        units=tuple(together(units)),
        caches=tuple(_caches(levels)),
        environment={"host": host},
    )


def _store_forward(units: Sequence[Reading]) -> float | None:
    """From the store of a real number to its use: at once, or with an addition and others."""
    alone = single(units, "store-forward", latency=True)
    with_sum = single(units, "store-forward-add", latency=True)
    add = next((one for one in operations(units) if one.key == "add"), None)
    found = [alone.low] if alone else []
    if with_sum and add and add.least_cycles:
        found.append(with_sum.low - add.least_cycles)
    return min(found, default=None)


def _without_addition(units: Sequence[Reading], both: Interval | None) -> float | None:
    """What a counter in memory waits for its store, without the addition of one."""
    add = single(units, "integer-add", latency=True)
    return max(0.0, both.low - (add.low if add else 1.0)) if both else None


def _caches(found: Hierarchy) -> list[Cache]:
    """The levels that were resolved, as far as no nearer one is missing."""
    caches = []
    for level in found.levels:
        if level.size_bytes is None or level.line_bytes is None:
            break
        caches.append(_cache(level, level.size_bytes, level.line_bytes))
    return caches


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
