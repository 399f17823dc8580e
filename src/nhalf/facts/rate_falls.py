"""Where the rate of long messages falls from its peak over a range of sizes: out of a cache."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from nhalf.machines.machine import FittedModel

FALL_LEAST = 1.2
"""Smaller falls of the rate, as a ratio, are not worth a word."""
SAME_RATE = 1.05
"""Rates within this factor of the peak, or of the lowest rate after it, count as equal to it."""
STEP_MOST = 0.6
"""A protocol changes at one size. A fall of which no step between neighbouring sizes has more than
this share, on a logarithmic scale, is gradual: a cache's."""


@dataclass(frozen=True)
class RateFall:
    """The last size at about the peak rate and the first at about the lowest rate beyond it.

    `largest_step_ratio` is the largest ratio of rates on the way, between neighbouring sizes.
    """

    from_bytes: int
    to_bytes: int
    from_Bps: float
    to_Bps: float
    largest_step_ratio: float

    @property
    def is_gradual(self) -> bool:
        """Whether it takes a range of sizes, and not one size."""
        fall = math.log(self.from_Bps / self.to_Bps)
        return math.log(self.largest_step_ratio) <= STEP_MOST * fall

    def holds(self, low_bytes: float, high_bytes: float) -> bool:
        """Whether a change of the curve between two sizes is a part of the fall."""
        return low_bytes >= self.from_bytes and high_bytes <= self.to_bytes


def rate_fall(model: FittedModel) -> RateFall | None:
    """The fall of a fitted curve from its highest rate to the lowest at larger sizes; None if the
    rate falls by less than FALL_LEAST.
    """
    rates = [
        (size, size / segment.time_s(size))
        for segment in model.segments
        for size in dict.fromkeys((segment.from_bytes, segment.to_bytes))
        if size > 0
    ]
    if not rates:
        return None
    peak_Bps = max(rate for _, rate in rates)
    start = max(place for place, (_, rate) in enumerate(rates) if rate * SAME_RATE >= peak_Bps)
    beyond = rates[start + 1 :]
    lowest_Bps = min((rate for _, rate in beyond), default=peak_Bps)
    if lowest_Bps * FALL_LEAST > peak_Bps:
        return None
    length = next(n for n, (_, rate) in enumerate(beyond) if rate <= lowest_Bps * SAME_RATE)
    way = rates[start : start + length + 2]
    largest_step_ratio = max(before / after for (_, before), (_, after) in itertools.pairwise(way))
    (from_bytes, from_Bps), (to_bytes, to_Bps) = way[0], way[-1]
    return RateFall(from_bytes, to_bytes, from_Bps, to_Bps, largest_step_ratio)
