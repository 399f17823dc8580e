# SPDX-License-Identifier: Apache-2.0
"""Numbers with their intervals and origins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.machines.draws import PredictedRate
from nhalf.statistics.next_run import next_run_intervals

ORIGINS = ("measured", "predicted", "published")
"""A ratio is the first of these that either of its numbers is."""


@dataclass(frozen=True)
class Value:
    """A number; `ci` is its interval of 95 %, None if none is known; `ranks` took part.

    `per_draw` are its values with draws of what is unpublished, the same ones for all numbers of a
    machine. `origin` is "measured", "predicted", "published" or, of a conclusion, "read back".
    """

    median: float
    ci: tuple[float, float] | None = None
    ranks: int = 2
    origin: str = "predicted"
    per_draw: Floats | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_draws(cls, drawn: Floats, ranks: int) -> Value:
        """The number with its interval from the values of all draws."""
        rate = PredictedRate.of(drawn)
        return cls(rate.middle_Bps, (rate.low, rate.high), ranks, per_draw=drawn)

    @classmethod
    def of_launches(cls, numbers: Sequence[float], ranks: int = 2) -> Value:
        """The measured number with its interval from that of each launch; none from a single one.

        Raises InputError if no launch has it.
        """
        if not numbers:
            raise InputError("no launch has it")
        if len(numbers) == 1:
            return cls(float(numbers[0]), None, ranks, "measured")
        row = np.array([numbers], dtype=float)
        middle, low, high = next_run_intervals(row, np.zeros(1, dtype=np.int64))
        return cls(float(middle[0]), (float(low[0]), float(high[0])), ranks, "measured")

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the number itself twice."""
        return self.ci or (self.median, self.median)

    def over(self, divisor: Value) -> Value:
        """The ratio. Without common draws its interval reaches from end to end: wider than needed.

        Raises InputError for a divisor that may be 0, or has no finite value.
        """
        if not (divisor.ends[0] > 0 and math.isfinite(divisor.median)):
            raise InputError("what it is compared with may be 0, or has no value")
        origins = (self.origin, divisor.origin)
        origin = next(name for name in ORIGINS if name in origins)
        if self.per_draw is not None and divisor.per_draw is not None:
            return replace(
                Value.of_draws(self.per_draw / divisor.per_draw, self.ranks), origin=origin
            )
        (low, high), (least, most) = self.ends, divisor.ends
        ci = None if self.ci is None and divisor.ci is None else (low / most, high / least)
        median = self.median / divisor.median
        return replace(self, median=median, ci=ci, per_draw=None, origin=origin)

    def scaled(self, factor: float) -> Value:
        """The number and its interval times a factor."""
        ci = None if self.ci is None else (self.ci[0] * factor, self.ci[1] * factor)
        return replace(self, median=self.median * factor, ci=ci, per_draw=None)

    def times(self, factor: Value) -> Value:
        """The product, whose interval reaches from end to end."""
        ci = None
        if self.ci or factor.ci:
            (low, high), (least, most) = self.ends, factor.ends
            ci = (low * least, high * most)
        return replace(self, median=self.median * factor.median, ci=ci, per_draw=None)

    def at_most(self, limit: float) -> Value:
        """The number and its interval, cut off at a limit that it cannot pass."""
        ci = None if self.ci is None else (min(limit, self.ci[0]), min(limit, self.ci[1]))
        return replace(self, median=min(limit, self.median), ci=ci)

    def inverse(self, amount: float) -> Value:
        """An amount over this number: bytes over seconds."""
        low, high = self.ends
        ci = None if self.ci is None else (amount / high, amount / low)
        drawn = None if self.per_draw is None else amount / self.per_draw
        return replace(self, median=amount / self.median, ci=ci, per_draw=drawn)
