"""The description of a processor from its measurements."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from msgspec.structs import replace

from nhalf.machines.processor import Cache, Processor
from nhalf.node.levels import Hierarchy, Level, hierarchy
from nhalf.node.reading import LOAD, STORE, UNIT, Reading
from nhalf.node.units import (
    fused_pairs,
    operations,
    reorder_buffer_instructions,
    scheduler_instructions,
    single,
    together,
)
from nhalf.statistics.intervals import Interval


def measured(
    readings: Sequence[Reading], run: str, environment: Mapping[str, Any]
) -> Processor | None:
    """The processor that the points of a run show; None if its units were not measured."""
    units = [reading for reading in readings if reading.pattern == UNIT]
    issue = single(units, "issue")
    if issue is None:
        return None
    levels = hierarchy(readings)
    counter_cycles = single(units, "integer-store-forward", latency=True)
    hit_cycles = levels.levels[0].hit_cycles_median if levels.levels else None
    host = str(environment.get("host") or "here")
    return Processor(
        name=host,
        title=str(environment.get("processor", "")),
        source=f"measured by nhalf, run {run}",
        unknown=(*levels.unresolved, "which operations share a unit, except add and multiply"),
        clock_hz=1 / median(reading.cycle_s for reading in units),
        issue_per_cycle=issue.high,
        store_forward_cycles=_store_forward(units),
        integer_store_forward_cycles=_without_addition(units, counter_cycles),
        reorder_buffer_instructions=reorder_buffer_instructions(units, issue.high),
        scheduler_instructions=scheduler_instructions(units),
        fused_pairs=tuple(fused_pairs(units)),
        operations=tuple(operations(units, hit_cycles)),
        units=tuple(together(units)),
        caches=tuple(_caches(levels, readings)),
        environment={"host": host},
    )


def _store_forward(units: Sequence[Reading]) -> float | None:
    """Latency from the store of a floating-point number to its use.

    It is measured directly, or with an addition, whose latency is subtracted; the lower counts.
    """
    alone = single(units, "store-forward", latency=True)
    with_add = single(units, "store-forward-add", latency=True)
    add = next((operation for operation in operations(units) if operation.key == "add"), None)
    latencies = [alone.low] if alone else []
    if with_add and add and add.least_cycles:
        latencies.append(with_add.low - (add.latency_to_others_cycles or add.least_cycles))
    return min(latencies, default=None)


def _without_addition(units: Sequence[Reading], with_addition: Interval | None) -> float | None:
    """Store-to-load forwarding of a counter in memory, without the addition of one."""
    add = single(units, "integer-add", latency=True)
    return max(0.0, with_addition.low - (add.low if add else 1.0)) if with_addition else None


def _caches(levels: Hierarchy, readings: Sequence[Reading]) -> list[Cache]:
    """The levels that were resolved, up to the first that was not."""
    caches: list[Cache] = []
    for level in levels.levels:
        if level.size_bytes is None or level.line_bytes is None:
            break
        cache = _cache(level, level.size_bytes, level.line_bytes)
        if caches:
            ends = 2 * caches[-1].size_bytes, cache.size_bytes // 2
            loaded = line_cycles(readings, LOAD, ends, cache.line_bytes)
            stored = line_cycles(readings, STORE, ends, cache.line_bytes)
            cache = replace(cache, load_line_cycles=loaded, store_line_cycles=stored)
        caches.append(cache)
    return caches


def line_cycles(
    readings: Sequence[Reading], pattern: str, ends_bytes: tuple[int, int], line_bytes: int
) -> float | None:
    """Cycles of a line in a sweep over arrays between two sizes; None if there was none.

    A neighbour only adds time, so the fastest trial counts.
    """
    return min(
        (
            reading.least_cycles
            for reading in readings
            if reading.pattern == pattern
            and reading.stride_bytes == line_bytes
            and ends_bytes[0] <= reading.size_bytes <= ends_bytes[1]
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
