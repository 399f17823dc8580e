"""Misses that no order of the same accesses avoids: Abandah 1995, on the SP2's node."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nhalf.loops.source.streams import Stream
from nhalf.machines.processor import Cache


@dataclass(frozen=True)
class Misses:
    """Misses of the first level per iteration."""

    loads_per_iteration: float = 0.0
    stores_per_iteration: float = 0.0
    scattered_stores_per_iteration: float = 0.0
    """Stores among them whose lines come from places apart, and one after the other."""


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
    # A line that is loaded and then stored to misses once, as one of a modified array.
    stores = sum(line for stream, line in pairs if stream.stores)
    return Misses(share * (sum(lines_per_iteration) - stores), share * stores)


class CacheState:
    """What loops leave in the first level for each other: lines of arrays, the last used last.

    An optimistic state: whole arrays leave in the order in which they were used, nothing else comes
    in, and lines of a modified array miss as stores. With conflicts a column whose lines fall into
    few sets does not stay until the next one.
    """

    def __init__(self, cache: Cache, has_conflicts: bool = False) -> None:
        self._cache, self._has_conflicts = cache, has_conflicts
        self._capacity = cache.size_bytes // cache.line_bytes
        self._lines: dict[str, float] = {}

    def run(
        self, streams: Sequence[Stream], arrays: Mapping[str, str], nest: Sequence[tuple[str, int]],
        iterations: int,
    ) -> Misses:  # fmt: skip
        """The misses of a loop, which is run until it had all its iterations.

        `arrays` are the memory that the names of arrays stand for, `nest` has the trips of the loop
        and of those around it, from within, by the names of their counters.
        """
        own = dict[str, list[Stream]]()
        for stream in streams:
            if stream.loads or stream.stores:
                own.setdefault(arrays.get(stream.array.name, stream.array.name), []).append(stream)
        counters = {name: set[str]().union(*(stream.outer_names for stream in of))
                    for name, of in own.items()}  # fmt: skip
        trips = nest[0][1]
        lines = {name: _lines_together(of, self._cache) * trips for name, of in own.items()}
        conflicting = {name for name, of in own.items() if self._conflicts(of, trips)}
        # Lines that are there at once, and how often one comes in.
        missing, elements = dict(lines), dict.fromkeys(own, trips)
        around = math.prod(times for _, times in nest)
        for counter, times in [*nest[1:], ("", max(1, iterations // around))]:
            share = self._share(sum(lines.values()), len(own))
            for name, of in own.items():
                if counter not in counters[name]:
                    missing[name] *= 1 + (times - 1) * share
                    continue
                elements[name] *= times
                lines[name], missing[name] = lines[name] * times, missing[name] * times
                # Rows and columns that share lines find them.
                if not share and name not in conflicting:
                    size_bytes = of[0].array.element.size_bytes
                    least = max(1.0, elements[name] * size_bytes / self._cache.line_bytes)
                    lines[name] = min(lines[name], least)
                    missing[name] = min(missing[name], least)
        share = self._share(sum(lines.values()), len(own))
        loads = stores = scattered = 0.0
        for name, of in own.items():
            resident = min(self._lines.get(name, 0.0), lines[name]) * (1 - share)
            is_modified = any(stream.stores for stream in of)
            came = max(0.0, missing[name] - resident)
            loads, stores = loads + came * (not is_modified), stores + came * is_modified
            scattered += came * (is_modified and name in conflicting)
        self._use(lines)
        return Misses(loads / iterations, stores / iterations, scattered / iterations)

    def _conflicts(self, streams: Sequence[Stream], trips: int) -> bool:
        """Whether a stream with a stride of lines has more of them than its sets have room for."""
        cache, ways = self._cache, self._cache.ways
        strides = [stride_elements(stream) for stream in streams]
        if not self._has_conflicts or not ways or not all(strides):
            return False
        size_bytes = streams[0].array.element.size_bytes
        step = min(abs(stride or 0) for stride in strides) * size_bytes // cache.line_bytes
        sets = self._capacity // ways
        return step > 0 and trips > ways * sets // math.gcd(sets, step)

    def _share(self, blocks: float, arrays: int) -> float:
        """The share of lines that are not there when they are read again."""
        return capacity_misses(round(blocks), self._cache, arrays) / blocks if blocks else 0.0

    def _use(self, lines: Mapping[str, float]) -> None:
        for name, own in lines.items():
            self._lines.pop(name, None)
            self._lines[name] = min(own, self._capacity)
        beyond = sum(self._lines.values()) - self._capacity
        for name in list(self._lines):
            gone = min(max(beyond, 0.0), self._lines[name])
            self._lines[name] -= gone
            beyond -= gone
            if not self._lines[name]:
                del self._lines[name]


def _lines_together(streams: Sequence[Stream], cache: Cache) -> float:
    """New lines per iteration of the streams of an array, which share lines where they are near."""
    lines, apart_streams = 0.0, list[Stream]()
    for stream in streams:
        own = stream.members[0][1].place
        stride = max(abs(stride_elements(stream) or 0),
                     cache.line_bytes / stream.array.element.size_bytes)  # fmt: skip
        for before in apart_streams:
            place = before.members[0][1].place
            apart = (own.subscripts[-1] - place.subscripts[-1]).constant
            is_row = own.subscripts[:-1] == place.subscripts[:-1]
            if is_row and apart is not None and abs(apart) < stride:
                break
        else:
            apart_streams.append(stream)
            lines += _lines_per_iteration(stream, cache)
    return lines


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
