"""Numbers with their units, intervals and origins, and ratios of two numbers of a run.

Launches that have both numbers of a ratio are pairs: what makes a launch slow makes both slow, and
is not in their ratio. Numbers that were reported from different launches, as in two states of the
machine, are compared as two runs are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.machines.draws import PredictedRate
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.statistics.next_run import next_run_intervals
from nhalf.statistics.ratio_intervals import interval_apart

Unit = Literal["s", "Bps", "bytes", "ratio", "s/B", "share", "cycles", "flop/s"]
ENDINGS: dict[str, Unit] = {"_s": "s", "_Bps": "Bps", "_bytes": "bytes", "_share": "share"}
ORIGINS = ("measured", "virtual", "simulated", "predicted", "published", "counted")
"""What a number rests on; a ratio is the first of these that either of its numbers is."""
OF_LAUNCHES = ORIGINS[:3]


@dataclass(frozen=True)
class StudyValue:
    """A number; `ci` is its interval of 95 %, None if none is known; `ranks` took part.

    `per_draw` are its values with draws of what is unpublished, the same ones for all numbers of a
    machine. `per_launch` are those of launches of a run. `origin` is one of ORIGINS or, of a
    conclusion, "read back".
    """

    median: float
    ci: tuple[float, float] | None = None
    ranks: int = 2
    origin: str = "predicted"
    per_draw: Floats | None = field(default=None, compare=False, repr=False)
    per_launch: Mapping[Launch, float] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of_draws(cls, drawn: Floats, ranks: int) -> StudyValue:
        """The number with its interval from the values of all draws."""
        rate = PredictedRate.of(drawn)
        return cls(rate.middle_Bps, (rate.low, rate.high), ranks, per_draw=drawn)

    @classmethod
    def of_launches(cls, per_launch: Mapping[Launch, float], ranks: int = 2) -> StudyValue:
        """The measured number with its interval from that of each launch; none from a single one.

        Raises InputError if no launch has it.
        """
        numbers = [float(number) for number in per_launch.values()]
        if not numbers:
            raise InputError("no launch has it")
        if len(numbers) == 1:
            return cls(numbers[0], None, ranks, "measured", per_launch=per_launch)
        row = np.array([numbers], dtype=float)
        middle, low, high = next_run_intervals(row, np.zeros(1, dtype=np.int64))
        ci = (float(low[0]), float(high[0]))
        return cls(float(middle[0]), ci, ranks, "measured", per_launch=per_launch)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the number itself twice."""
        return self.ci or (self.median, self.median)

    @property
    def is_rounded(self) -> bool:
        """Whether launches are equal although its interval says that they vary."""
        numbers = list(self.per_launch.values())
        return self.ends[0] < self.ends[1] and len(set(numbers)) < len(numbers)

    def is_drawn_as(self, value: StudyValue) -> bool:
        """Whether every draw gives both numbers the same value."""
        if self.per_draw is None or value.per_draw is None:
            return False
        return bool(np.allclose(self.per_draw, value.per_draw, rtol=1e-9))

    def over(self, divisor: StudyValue) -> StudyValue:
        """The ratio, draw by draw or over launches; without either its interval is wider.

        It then reaches from end to end. So do ratios of launches that a clock has rounded: these
        vary less than what they are about. Raises InputError for a divisor that may be 0, or has
        no finite value.
        """
        if not (divisor.ends[0] > 0 and math.isfinite(divisor.median)):
            raise InputError("what it is compared with may be 0, or has no value")
        origins = (self.origin, divisor.origin)
        origin = next(name for name in ORIGINS if name in origins)
        if self.per_draw is not None and divisor.per_draw is not None:
            return replace(
                StudyValue.of_draws(self.per_draw / divisor.per_draw, self.ranks), origin=origin
            )
        if not (self.is_rounded or divisor.is_rounded):
            ratio = ratio_over_launches(self.per_launch, divisor.per_launch)
            if ratio is not None:
                interval, pairs = ratio
                ci = (interval.low, interval.high)
                return StudyValue(interval.median, ci, self.ranks, origin, per_launch=pairs)
        median = self.median / divisor.median
        return StudyValue(median, self._end_over_end(divisor), self.ranks, origin)

    def _end_over_end(self, divisor: StudyValue) -> tuple[float, float] | None:
        """The widest interval of the ratio; None if it has none, or either is of one launch."""
        sides = (self, divisor)
        if any(side.ci is None and side.origin in OF_LAUNCHES for side in sides):
            return None
        if self.ci is None and divisor.ci is None:
            return None
        (low, high), (least, most) = self.ends, divisor.ends
        return low / most, high / least

    def scaled(self, factor: float) -> StudyValue:
        """The number and its interval times a factor."""
        ci = None if self.ci is None else (self.ci[0] * factor, self.ci[1] * factor)
        per_launch = self._each(lambda number: number * factor)
        median = self.median * factor
        return replace(self, median=median, ci=ci, per_draw=None, per_launch=per_launch)

    def times(self, factor: StudyValue) -> StudyValue:
        """The product, whose interval reaches from end to end."""
        ci = None
        if self.ci or factor.ci:
            (low, high), (least, most) = self.ends, factor.ends
            ci = (low * least, high * most)
        return StudyValue(self.median * factor.median, ci, self.ranks, self.origin)

    def at_most(self, limit: float) -> StudyValue:
        """The number and its interval, cut off at a limit that it cannot pass."""
        ci = None if self.ci is None else (min(limit, self.ci[0]), min(limit, self.ci[1]))
        per_launch = self._each(lambda number: min(limit, number))
        return replace(self, median=min(limit, self.median), ci=ci, per_launch=per_launch)

    def inverse(self, amount: float) -> StudyValue:
        """An amount over this number: bytes over seconds."""
        low, high = self.ends
        ci = None if self.ci is None else (amount / high, amount / low)
        drawn = None if self.per_draw is None else amount / self.per_draw
        per_launch = self._each(lambda number: amount / number if number else math.nan)
        median = amount / self.median
        return replace(self, median=median, ci=ci, per_draw=drawn, per_launch=per_launch)

    def _each(self, function: Callable[[float], float]) -> dict[Launch, float]:
        return {launch: function(number) for launch, number in self.per_launch.items()}


def unit_of_name(name: str) -> Unit:
    """The unit that ends a name: 's' of 'root_s'; numbers without any count as ratios."""
    return next((unit for end, unit in ENDINGS.items() if name.endswith(end)), "ratio")


Launch = tuple[str, int]
"""A run and the number of a launch."""

LAUNCHES_MIN = 3
"""Fewer launches say too little about their own spread."""


def ratio_over_launches(
    dividends: Mapping[Launch, float], divisors: Mapping[Launch, float]
) -> tuple[Interval, dict[Launch, float]] | None:
    """The ratio with its interval of 95 %, and that of each launch where these are pairs.

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
