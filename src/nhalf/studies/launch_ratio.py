"""The ratio of two numbers of a run over its launches, with an interval of 95 %.

Launches that have both numbers are pairs: what makes a launch slow makes both slow, and is not in
their ratio. Numbers that were reported from different launches, as in two states of the machine,
are compared as two runs are.
"""

import math
from collections.abc import Iterable, Mapping

from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.statistics.ratio_intervals import interval_apart

Launch = tuple[str, int]
"""A run and the number of a launch."""

LAUNCHES_MIN = 3
"""Fewer launches say too little about their own spread."""


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
        return (ratio_interval(list(pairs.values())), pairs) if are_usable else None
    return interval_apart(list(dividends.values()), list(divisors.values())), {}


def _are_usable(numbers: Iterable[float]) -> bool:
    """Whether there are enough numbers, all of which have a logarithm."""
    row = list(numbers)
    return len(row) >= LAUNCHES_MIN and all(math.isfinite(x) and x > 0 for x in row)
