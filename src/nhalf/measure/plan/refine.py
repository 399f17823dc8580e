"""Where to measure next: sizes that bracket the places where a curve jumps or bends.

Protocols change at sizes that no power of two brackets well. In a coarse curve, find the steps that
a straight line through their neighbours does not explain, then halve each (in the logarithm of the
size) until it is narrow. A step is compared with the line through its two left neighbours, as a
reader of the curve would.
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
"""A step that deviates less than a change, but more than this, gets one size at its midpoint."""
BRACKETS_MAX = 8

Curve = dict[int, float]


def changes(curve: Curve, deviation: float = DEVIATION) -> list[tuple[int, int]]:
    """Return neighbouring sizes between which the curve jumps or bends, the strongest first.

    `curve` maps sizes in bytes to times in seconds; a step counts above the relative `deviation`.
    """
    sizes = sorted(curve)
    steps = []
    for low, high in itertools.pairwise(sizes):
        steps.append((abs(_deviation(curve, sizes, low, high)), low, high))
    strong = [step for step in steps if step[0] > deviation and not _narrow(*step[1:])]
    return [(low, high) for _, low, high in sorted(strong, reverse=True)]


def refine(curve: Curve, measure: Callable[[int], float | None]) -> list[int]:
    """Return the sizes to add to a coarse curve, found by measuring some of them.

    `measure` returns the time in seconds at a size, None if it cannot. The strongest changes of
    the curve end up between two neighbouring sizes no further apart than WIDTH; slighter bends get
    one size at their midpoint, so that a model does not have to guess there.
    """
    refined = dict(curve)
    for size in sorted({size for bracket in changes(curve) for size in bracket}):
        # A second trial: a disturbance of one measurement is no change of the curve.
        time_s = measure(size)
        refined[size] = min(refined[size], time_s) if time_s is not None else refined[size]
    strong = changes(refined)[:BRACKETS_MAX]
    slight = [step for step in changes(refined, SLIGHT_DEVIATION) if step not in strong]
    for bracket in strong:
        _bisect(refined, *bracket, measure)
    for low, high in slight:
        middle = _middle(low, high)
        time_s = measure(middle)
        if time_s is not None:
            refined[middle] = time_s
    return sorted(set(refined) - set(curve))


def _bisect(curve: Curve, low: int, high: int, measure: Callable[[int], float | None]) -> None:
    """Halve a bracket until it is narrow, adding the measured times to `curve`."""
    while not _narrow(low, high):
        middle = _middle(low, high)
        time_s = measure(middle) if middle not in (low, high) else None
        if time_s is None:
            return
        curve[middle] = time_s
        if _belongs_left(curve, low, middle, high):
            low = middle
        else:
            high = middle


def _middle(low: int, high: int) -> int:
    """Return the geometric mean of two sizes."""
    return round(math.sqrt(max(low, 1) * high))


def _narrow(low: int, high: int) -> bool:
    return high - low <= 1 or high <= max(low, 1) * WIDTH


def _line(curve: Curve, points: Sequence[int], size: int) -> float:
    """Return the time at `size` on the line through two points, at least half the smaller time."""
    first, second = points
    slope = (curve[second] - curve[first]) / (second - first)
    return max(curve[first] + slope * (size - first), min(curve[first], curve[second]) * 0.5)


def _deviation(curve: Curve, sizes: Sequence[int], low: int, high: int) -> float:
    """Return the relative deviation of the time at `high` from the left neighbours' line."""
    left_sizes = [size for size in sizes if size <= low]
    if len(left_sizes) < 2:
        right_sizes = [size for size in sizes if size >= high]
        if len(right_sizes) < 2:
            return 0.0
        return curve[low] / _line(curve, right_sizes[:2], low) - 1
    return curve[high] / _line(curve, left_sizes[-2:], high) - 1


def _belongs_left(curve: Curve, low: int, middle: int, high: int) -> bool:
    """Whether the time at `middle` continues the curve on the left rather than the right."""
    left_sizes = [size for size in sorted(curve) if size <= low]
    right_sizes = [size for size in sorted(curve) if size >= high]
    from_left = _line(curve, left_sizes[-2:], middle) if len(left_sizes) > 1 else curve[low]
    from_right = _line(curve, right_sizes[:2], middle) if len(right_sizes) > 1 else curve[high]
    time_s = curve[middle]
    return abs(math.log(time_s / from_left)) <= abs(math.log(time_s / max(from_right, 1e-12)))
