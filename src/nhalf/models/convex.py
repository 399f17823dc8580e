"""Convex functions that are made of straight pieces: where they cross a value, where they bend.

The run time of a program by what is added to each message is one: the longest of many paths, each
with its number of messages. Where it bends, another path becomes the longest. Bends are found
without looking at every amount: two tangents meet at a bend, or below the function, and then it
is cut there (M. J. Eisner and D. G. Severance, Mathematical techniques for efficient record
segmentation in large shared databases, J. ACM 23, 1976).
"""

from collections.abc import Callable
from dataclasses import dataclass

Function = Callable[[float], float]
STEPS_MAX = 60
GROWTH = 8.0
STEP = 1e-6
"""The step of a slope, as a share of its place."""
TANGENTS_MAX = 16
SAME_SLOPE = 1e-4
"""Slopes that differ by a smaller share are one."""


@dataclass(frozen=True)
class Tangent:
    """A function's value and slope at a point, the slope towards larger arguments."""

    place: float
    value: float
    slope: float

    def value_at(self, place: float) -> float:
        """The value of the straight line."""
        return self.value + self.slope * (place - self.place)


def crossing(
    function: Function, usual: float, target: float, accuracy: float, first: float, most: float
) -> float | None:
    """Where a convex function that is `usual` at 0 reaches a target, with that accuracy of its
    value; None if it is below at `most`. Its first slope is looked at from 0 to `first`.

    A tangent lies below the function: where it reaches the target, the function is beyond, and the
    next tangent leads back (Newton's method, which ends after as many steps as there are pieces).
    """
    low, high = 0.0, first
    slope = (function(first) - usual) / first
    if slope > 0:
        high = max(first, (target - usual) / slope)
    while (value := function(min(high, most))) < target - accuracy:
        if high >= most:
            return None
        low, high = high, GROWTH * high
    high = min(high, most)
    for _ in range(STEPS_MAX):
        if value - target <= accuracy:
            break
        slope = (value - function(high - STEP * high)) / (STEP * high)
        place = high - (value - target) / slope if slope > 0 else low
        place = place if low < place < high else 0.5 * (low + high)
        reached = function(place)
        if reached < target - accuracy:
            low = place
        else:
            high, value = place, reached
    return high - (value - target) / slope if slope > 0 else high


def tangent(function: Function, place: float, step: float) -> Tangent:
    """The tangent at a point, by a step that is shorter than any straight piece."""
    value = function(place)
    return Tangent(place, value, (function(place + step) - value) / step)


def bends(function: Function, end: float, step: float, accuracy: float) -> list[float]:
    """The arguments between 0 and `end` at which a function bends, in order; of many bends those
    that TANGENTS_MAX show.
    """
    places: list[float] = []
    pairs = [(tangent(function, 0.0, step), tangent(function, end, step))]
    looks = 2
    while pairs and looks < TANGENTS_MAX:
        lower, upper = pairs.pop(0)
        if upper.slope - lower.slope <= SAME_SLOPE * max(abs(lower.slope), abs(upper.slope)):
            continue
        place = (lower.value_at(0.0) - upper.value_at(0.0)) / (upper.slope - lower.slope)
        if not lower.place < place < upper.place:
            continue
        middle = tangent(function, place, step)
        looks += 1
        if middle.value - lower.value_at(place) <= accuracy:
            places.append(place)
        else:
            pairs += [(lower, middle), (middle, upper)]
    return sorted(places)
