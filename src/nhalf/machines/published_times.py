"""Times that were published point by point: those of a pattern, by algorithm, ranks and size."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nhalf.base.errors import InputError
from nhalf.base.operations import NATIVE, OPERATIONS
from nhalf.machines.curve import PINGPONG
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import Machine
from nhalf.store.keys import parse_axes

AS_PINGPONG = "latency"
"""The pattern of points that are times of a ping-pong."""
NAMES = {"n-way": "central"}
"""Algorithms that studies call otherwise."""


@dataclass(frozen=True)
class PublishedTimes:
    """Seconds of one algorithm, by ranks and bytes; of several at a point their geometric mean."""

    algorithm: str
    times_s: Mapping[tuple[int, int], float]

    def at_s(self, ranks: int, size_bytes: int) -> float | None:
        """The published time; None if there is none of these ranks and this size."""
        return self.times_s.get((ranks, size_bytes))

    def smaller_s(self, ranks: int, size_bytes: int) -> float:
        """The longest published time of smaller sizes, than which a size takes no less; else 0."""
        smaller = (s for (p, n), s in self.times_s.items() if p == ranks and n < size_bytes)
        return max(smaller, default=0.0)

    def between_s(self, ranks: int, size_bytes: int) -> float:
        """The published time, or that on a line over log p between two numbers of ranks.

        Raises InputError for fewer ranks than the fewest published, and for more than the most.
        """
        counts = sorted(count for count, size in self.times_s if size == size_bytes)
        if not counts or not counts[0] <= ranks <= counts[-1]:
            words = f"published of {', '.join(map(str, counts))} ranks" if counts else "unpublished"
            raise InputError(words, "ask for ranks between them")
        log_s = [math.log(self.times_s[count, size_bytes]) for count in counts]
        return math.exp(float(np.interp(math.log(ranks), np.log(counts), log_s)))


def published_times(machine: Machine, pattern: str, placement: str = "") -> list[PublishedTimes]:
    """The published times of an operation or a ping-pong, the library's own first.

    Points of other placements count where none is asked for, except layouts such as 2x32, which
    are of their own number of ranks on a node.
    """
    if pattern not in (*OPERATIONS, PINGPONG):
        return []
    names = (pattern, AS_PINGPONG) if pattern == PINGPONG else (pattern,)
    by_algorithm: dict[str, dict[tuple[int, int], list[float]]] = {}
    for point in machine.points:
        axes = parse_axes(point.axes)
        algorithm = axes.pop("algorithm", NATIVE)
        is_there = point.placement == placement
        is_there |= not placement and parse_layout(point.placement) is None
        if point.pattern in names and is_there and not axes and point.time_s is not None:
            cell = (point.ranks, point.size_bytes or 0)
            cells = by_algorithm.setdefault(NAMES.get(algorithm, algorithm), {})
            cells.setdefault(cell, []).append(point.time_s)
    means = {
        algorithm: {cell: math.exp(float(np.mean(np.log(s)))) for cell, s in cells.items()}
        for algorithm, cells in by_algorithm.items()
    }
    ordered = sorted(means, key=lambda algorithm: algorithm != NATIVE)
    return [PublishedTimes(algorithm, means[algorithm]) for algorithm in ordered]
