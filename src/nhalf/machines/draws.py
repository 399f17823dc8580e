"""Monte Carlo draws of values of which only a range is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.machines.shared import Amount, ends

COVERAGE = 0.95
FACTOR_MAX = 3.0
"""An interval that reaches further than this from its middle is no prediction."""
LEAST = 1e-3
"""Ends of an interval that differ by less count as equal."""


@dataclass
class Draws:
    """This many independent draws of every range, each uniform in its logarithm (Monte Carlo).

    The first draw has all ranges at their geometric mean.
    """

    count: int = 400
    seed: int = 1
    _random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def of(self, amount: Amount) -> Floats:
        """Draws of a number or a range, of the shape (count,)."""
        low, high = ends(amount)
        share = self._random.random(self.count)
        share[0] = 0.5
        values: Floats = low * (high / low) ** share
        return values


@dataclass(frozen=True)
class PredictedRate:
    """A rate with the interval of probability COVERAGE, in bytes per second.

    `middle_Bps` is the rate with all ranges at their geometric mean.
    """

    middle_Bps: float
    low: float
    high: float

    @property
    def is_wide(self) -> bool:
        """Whether unknown values change the rate noticeably."""
        return self.high > self.low * (1 + LEAST)

    @property
    def is_certain(self) -> bool:
        """Whether the interval is narrow enough for a headline."""
        return self.high <= FACTOR_MAX * self.middle_Bps <= FACTOR_MAX**2 * self.low

    def widened(self, ratio: float) -> PredictedRate:
        """The rate with an interval of at least this factor each way."""
        middle_Bps = self.middle_Bps
        low, high = min(self.low, middle_Bps / ratio), max(self.high, middle_Bps * ratio)
        return PredictedRate(middle_Bps, low, high)

    def scaled(self, factor: float) -> PredictedRate:
        """The rate and its interval times a factor."""
        return PredictedRate(self.middle_Bps * factor, self.low * factor, self.high * factor)

    @classmethod
    def of(cls, values: Floats) -> PredictedRate:
        """The rate and its interval from the values of all draws."""
        low, high = np.quantile(values, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
        return cls(float(values[0]), float(low), float(high))
