# SPDX-License-Identifier: Apache-2.0
"""Values within ranges: what follows from numbers of which only the ends are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.machines.shared import Amount, ends

COVERAGE = 0.95
LEAST = 1e-3
"""A smaller difference between both ends is none."""


@dataclass
class Draws:
    """This many independent draws of every range, each uniform in its logarithm (Monte Carlo).

    The first of them has all ranges at their geometric middle.
    """

    count: int = 400
    seed: int = 1
    _random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def of(self, amount: Amount) -> Floats:
        """(count,) values of a number or a range."""
        low, high = ends(amount)
        share = self._random.random(self.count)
        share[0] = 0.5
        found: Floats = low * (high / low) ** share
        return found


@dataclass(frozen=True)
class PredictedRate:
    """The middle, and between what it lies with a probability of COVERAGE; bytes per second."""

    middle_Bps: float
    low: float
    high: float

    @property
    def is_wide(self) -> bool:
        """Whether any range made a difference."""
        return self.high > self.low * (1 + LEAST)

    @classmethod
    def of(cls, values: Floats) -> PredictedRate:
        """From the values of all draws."""
        low, high = np.quantile(values, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
        return cls(float(values[0]), float(low), float(high))
