# SPDX-License-Identifier: Apache-2.0
"""The effect of one mixture against another, from launches in turns, and what it proves.

The unit is the launch: a round gives one logarithm of a ratio, and the effect is their trimmed
mean with its variance (Yuen 1974; statistics/many_tests.py). More rounds follow while nothing is
decided, so there is a test at each of several numbers of rounds, and the probability of a false one
is shared by all (a group sequential test with the bounds of Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.statistics.many_tests import trimmed
from nhalf.statistics.student import student_quantile

ROUNDING = 1e-9
"""Relative rounding error: a machine without noise is as fast as itself."""


@dataclass(frozen=True)
class Effect:
    """A logarithm of the ratio of times with its variance, that of `rounds` rounds."""

    log_ratio: float
    variance: float
    degrees: int
    rounds: int

    @property
    def counted(self) -> int:
        """The rounds that are not trimmed."""
        return self.degrees + 1

    @classmethod
    def of(cls, logs: Sequence[float]) -> Effect:
        """The effect from one logarithm of a ratio per round; NaN without any."""
        if not logs:
            return cls(math.nan, math.nan, 0, 0)
        mean, variance, remaining = trimmed(np.array(logs, dtype=float))
        return cls(mean, variance / remaining, remaining - 1, len(logs))

    def moderated(self, spread: float, degrees: int) -> Effect:
        """The effect with a variance to which other launches contribute.

        `spread` is their variance of one round, with its degrees of freedom.
        """
        if not self.rounds:
            return self
        total = self.degrees + degrees
        own = self.degrees * self.variance * self.counted
        variance = (own + degrees * spread) / total / self.counted
        return Effect(self.log_ratio, variance, total, self.rounds)

    def reach(self, false_share: float) -> float:
        """The half-width of the interval that misses the truth at this rate."""
        if self.degrees < 1:
            return math.inf
        return student_quantile(self.degrees, 1 - false_share) * math.sqrt(self.variance)

    def is_proven(self, false_share: float) -> bool:
        """Whether there is an effect, in either direction; rounding errors are none."""
        return abs(self.log_ratio) > max(self.reach(false_share), ROUNDING)

    def is_within(self, least: float, false_share: float) -> bool:
        """Whether the whole interval lies within an effect of `least` in both directions."""
        return abs(self.log_ratio) + self.reach(false_share) < least

    def interval(self, false_share: float) -> tuple[float, float]:
        """The interval of the ratio of times, not of its logarithm."""
        reach = self.reach(false_share)
        return _exp(self.log_ratio - reach), _exp(self.log_ratio + reach)


def exact(log_ratio: float) -> Effect:
    """An effect that is known without an error."""
    return Effect(log_ratio, 0.0, 1, 1)


def _exp(log: float) -> float:
    return math.exp(min(max(log, -700.0), 700.0))
