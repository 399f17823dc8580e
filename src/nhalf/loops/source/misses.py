"""Misses that no order of the same accesses avoids: Abandah 1995, on the SP2's node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.loops.source.streams import Stream
from nhalf.machines.processor import Cache


@dataclass(frozen=True)
class Misses:
    """Misses of the first level per iteration."""

    loads_per_iteration: float = 0.0
    stores_per_iteration: float = 0.0


def capacity_misses(blocks: int, cache: Cache, arrays: int) -> float:
    """The count of misses when a working set of `blocks` cache lines is read again.

    With C blocks in the cache, A ways and D arrays (1 to A): none below C, B (B − C) / (D C / A)
    up to C (1 + D / A), then all.
    """
    capacity = cache.size_bytes // cache.line_bytes
    ways = cache.ways or capacity
    share = max(1, min(arrays, ways)) / ways
    if blocks < capacity:
        return 0.0
    if blocks > capacity * (1 + share):
        return float(blocks)
    return blocks * (blocks - capacity) / (share * capacity)


def misses(streams: Sequence[Stream], trips: int | None, cache: Cache | None) -> Misses:
    """Misses of a loop of `trips` iterations that is run repeatedly; none if `trips` is unknown."""
    moving = [stream for stream in streams if stream.loads or stream.stores]
    if trips is None or cache is None or not moving:
        return Misses()
    lines_per_iteration = [_lines_per_iteration(stream, cache) for stream in moving]
    blocks = round(sum(lines_per_iteration) * trips)
    arrays = len({stream.array.name for stream in moving})
    share = capacity_misses(blocks, cache, arrays) / blocks if blocks else 0.0
    pairs = list(zip(moving, lines_per_iteration, strict=True))
    # A line that is loaded and then stored to misses once: at its load.
    loads = sum(line for stream, line in pairs if stream.loads)
    stores = sum(line for stream, line in pairs if not stream.loads)
    return Misses(share * loads, share * stores)


def _lines_per_iteration(stream: Stream, cache: Cache) -> float:
    """New lines per iteration; 1 where the stride is unknown or long."""
    stride = stride_elements(stream)
    if stride is None:
        return 1.0
    return min(1.0, abs(stride) * stream.array.element.size_bytes / cache.line_bytes)


def stride_elements(stream: Stream) -> int | None:
    """The stride of a stream, in elements per iteration; None if unknown."""
    if stream.is_indirect or any(step.terms for step in stream.steps[:-1]):
        return None
    return stream.steps[-1].constant
