# SPDX-License-Identifier: Apache-2.0
"""Which instructions of a trace reach for lines that the nearest cache does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.machines.processor import Cache, Processor
from nhalf.node.ladder.decoded import Decoded
from nhalf.node.ladder.tracing import Executed


class NearCache:
    """The lines of one cache; of each set the one that was used least recently leaves."""

    def __init__(self, cache: Cache) -> None:
        self.ways = cache.ways or cache.size_bytes // cache.line_bytes
        self.sets: list[dict[int, None]] = [
            {} for _ in range(cache.size_bytes // cache.line_bytes // self.ways)
        ]

    def holds(self, line: int) -> bool:
        """Whether a line was there; from now on it is."""
        lines = self.sets[line % len(self.sets)]
        found = line in lines
        if found:
            del lines[line]
        elif len(lines) >= self.ways:
            del lines[next(iter(lines))]
        lines[line] = None
        return found


def with_misses(
    trace: Sequence[Executed], what: Sequence[Decoded], processor: Processor
) -> list[Executed]:
    """The trace of one pass among others, with the lines that each instruction has to wait for."""
    if not processor.caches:
        return list(trace)
    line_bytes = processor.caches[0].line_bytes
    near = NearCache(processor.caches[0])
    found = list(trace)
    for _ in range(2):
        for at, one in enumerate(found):
            if one.address:
                last = one.address + what[one.number].size_bytes - 1
                lines = range(one.address // line_bytes, last // line_bytes + 1)
                missed = sum(not near.holds(line) for line in lines)
                if missed != one.missed:
                    found[at] = one._replace(missed=missed)
    return found
