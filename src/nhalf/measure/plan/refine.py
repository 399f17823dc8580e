# SPDX-License-Identifier: Apache-2.0
"""Where to measure next: sizes that bracket the places where a curve jumps or bends.

Protocols change at sizes that no power of two brackets well. From a coarse curve the steps that a
straight line through their neighbours does not explain are found; each is then halved (in the
logarithm of the size) until it is narrow. A step is judged against the line through its two left
neighbours, as a reader of the curve would.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

WIDTH = 1.05
"""A bracket is narrow enough when its upper size is within this factor of its lower one."""
DEVIATION = 0.12
"""A step is a change where the time differs by more than this from the line of its neighbours."""
SLIGHT_DEVIATION = 0.06
"""A step with a lesser deviation than a change, but more than this, gets one size in its middle."""
BRACKETS_MAX = 8

Curve = dict[int, float]


def changes(curve: Curve, deviation: float = DEVIATION) -> list[tuple[int, int]]:
    """Neighbouring sizes between which the curve jumps or bends, the strongest first.

    `curve` maps sizes in bytes to times in seconds; a step counts above the relative `deviation`.
    """
    sizes = sorted(curve)
    found = []
    for low, high in itertools.pairwise(sizes):
        found.append((abs(_deviation(curve, sizes, low, high)), low, high))
    strong = [step for step in found if step[0] > deviation and not _narrow(*step[1:])]
    return [(low, high) for _, low, high in sorted(strong, reverse=True)]


def refine(curve: Curve, measure: Callable[[int], float | None]) -> list[int]:
    """The sizes to add to a coarse curve, found by measuring some of them.

    `measure` gives the time in seconds at a size, None when it cannot. The strongest changes of
    the curve end up between two neighbouring sizes no further apart than WIDTH; slighter bends get
    one size in the middle, so that a model does not have to guess there.
    """
    known = dict(curve)
    for size in sorted({size for bracket in changes(curve) for size in bracket}):
        # A second look: what disturbed one measurement makes no change of the curve.
        time_s = measure(size)
        known[size] = min(known[size], time_s) if time_s is not None else known[size]
    strong = changes(known)[:BRACKETS_MAX]
    slight = [step for step in changes(known, SLIGHT_DEVIATION) if step not in strong]
    for bracket in strong:
        _bisect(known, *bracket, measure)
    for low, high in slight:
        middle = _middle(low, high)
        time_s = measure(middle)
        if time_s is not None:
            known[middle] = time_s
    return sorted(set(known) - set(curve))


def _bisect(known: Curve, low: int, high: int, measure: Callable[[int], float | None]) -> None:
    """Halve a bracket until it is narrow, adding what is measured to `known`."""
    while not _narrow(low, high):
        middle = _middle(low, high)
        time_s = measure(middle) if middle not in (low, high) else None
        if time_s is None:
            return
        known[middle] = time_s
        if _belongs_left(known, low, middle, high):
            low = middle
        else:
            high = middle


def _middle(low: int, high: int) -> int:
    """The size between two others in the logarithm."""
    return round(math.sqrt(max(low, 1) * high))


def _narrow(low: int, high: int) -> bool:
    return high - low <= 1 or high <= max(low, 1) * WIDTH


def _line(curve: Curve, points: Sequence[int], size: int) -> float:
    """The time at `size` on the line through two points, at least the smaller time of the two."""
    first, second = points
    slope = (curve[second] - curve[first]) / (second - first)
    return max(curve[first] + slope * (size - first), min(curve[first], curve[second]) * 0.5)


def _deviation(curve: Curve, sizes: Sequence[int], low: int, high: int) -> float:
    """How far the time at `high` is from what the left neighbours predict, relative."""
    left = [size for size in sizes if size <= low]
    if len(left) < 2:
        right = [size for size in sizes if size >= high]
        if len(right) < 2:
            return 0.0
        return curve[low] / _line(curve, right[:2], low) - 1
    return curve[high] / _line(curve, left[-2:], high) - 1


def _belongs_left(curve: Curve, low: int, middle: int, high: int) -> bool:
    """Whether the time at `middle` continues the curve on the left rather than the right."""
    left = [size for size in sorted(curve) if size <= low]
    right = [size for size in sorted(curve) if size >= high]
    from_left = _line(curve, left[-2:], middle) if len(left) > 1 else curve[low]
    from_right = _line(curve, right[:2], middle) if len(right) > 1 else curve[high]
    time_s = curve[middle]
    return abs(math.log(time_s / from_left)) <= abs(math.log(time_s / max(from_right, 1e-12)))
