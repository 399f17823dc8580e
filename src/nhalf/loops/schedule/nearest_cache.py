"""Misses of the nearest cache, instruction by instruction in a trace."""

from collections.abc import Sequence

from nhalf.loops.listing.decoded import Decoded
from nhalf.loops.schedule.tracing import Executed
from nhalf.machines.processor import Cache, Processor


class NearCache:
    """A set-associative cache that evicts the least recently used line."""

    def __init__(self, cache: Cache) -> None:
        self.ways = cache.ways or cache.size_bytes // cache.line_bytes
        self.sets: list[dict[int, None]] = [
            {} for _ in range(cache.size_bytes // cache.line_bytes // self.ways)
        ]

    def holds(self, line: int) -> bool:
        """Whether the cache holds a line; afterwards it does."""
        lines = self.sets[line % len(self.sets)]
        is_held = line in lines
        if is_held:
            del lines[line]
        elif len(lines) >= self.ways:
            del lines[next(iter(lines))]
        lines[line] = None
        return is_held


def with_misses(
    trace: Sequence[Executed], instructions: Sequence[Decoded], processor: Processor
) -> list[Executed]:
    """The trace of one of many passes, with the lines that each instruction misses."""
    if not processor.caches:
        return list(trace)
    line_bytes = processor.caches[0].line_bytes
    cache = NearCache(processor.caches[0])
    marked = list(trace)
    for _ in range(2):
        for position, executed in enumerate(marked):
            if executed.address:
                last = executed.address + instructions[executed.number].size_bytes - 1
                lines = range(executed.address // line_bytes, last // line_bytes + 1)
                missed = sum(not cache.holds(line) for line in lines)
                if missed != executed.missed:
                    marked[position] = executed._replace(missed=missed)
    return marked
