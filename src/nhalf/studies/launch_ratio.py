"""The ratio of two numbers of a run over its launches, with an interval of 95 %.

Launches that have both numbers are pairs: what makes a launch slow makes both slow, and is not in
their ratio. Numbers that were reported from different launches, as in two states of the machine,
are compared as two runs are.

Of many launches some meet others' work on their cores, and take a thousand times as long: Student's
interval then tells of these alone, however many launches there are, while the pseudomedian does not
move. So launches count at no more than three robust standard deviations from the median (P. Huber,
Robust Statistics, Wiley 1981, 1.7), if there are enough to know what is far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import median

from nhalf.decide.ratio_intervals import interval_apart
from nhalf.statistics.intervals import Interval, ratio_interval

Launch = tuple[str, int]
"""A run and the number of a launch."""

LAUNCHES_MIN = 3
"""Fewer launches say too little about their own spread."""
LIMITED_FROM = 20
"""From this many launches on, those that are far from all others count as less far."""
FAR = 3 * 1.4826
"""How many median absolute deviations three standard deviations of normal numbers are."""


def limited(numbers: Iterable[float]) -> list[float]:
    """The numbers of launches, those that are far from their median moved as near as may be."""
    row = list(numbers)
    if len(row) < LIMITED_FROM or min(row) <= 0:
        return row
    logs = [math.log(number) for number in row]
    middle = median(logs)
    far = FAR * median(abs(log - middle) for log in logs)
    if far == 0:  # most are equal, as the clock rounds them
        return row
    return [math.exp(min(max(log, middle - far), middle + far)) for log in logs]


def ratio_over_launches(
    dividends: Mapping[Launch, float], divisors: Mapping[Launch, float]
) -> tuple[Interval, dict[Launch, float]] | None:
    """The ratio with its interval, and that of each launch where these are pairs.

    None if either side has too few launches, or one without a positive finite number.
    """
    if not (_are_usable(dividends.values()) and _are_usable(divisors.values())):
        return None
    pairs = {
        launch: number / divisors[launch]
        for launch, number in dividends.items()
        if launch in divisors
    }
    if len(pairs) >= LAUNCHES_MIN:
        are_usable = _are_usable(pairs.values())
        return (ratio_interval(limited(pairs.values())), pairs) if are_usable else None
    return interval_apart(limited(dividends.values()), limited(divisors.values())), {}


def _are_usable(numbers: Iterable[float]) -> bool:
    """Whether there are enough numbers, all of which have a logarithm."""
    row = list(numbers)
    return len(row) >= LAUNCHES_MIN and all(math.isfinite(x) and x > 0 for x in row)
