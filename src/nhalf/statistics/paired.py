"""The effect in pairs of launches, and interim analyses of them that share one error.

The launches of a pair follow each other, so that what lasts longer meets both. The datum is the
logarithm of the ratio of their times; the interval of n of them is

    exp(m -+ t(f, 1 - a / 2) sqrt(v / h))

with their mean m and variance v, h = n and f = n - 1. From `TRIMMED_FROM` pairs on a fifth is cut
off at either end, h remain, and v is that of the winsorised values (K. Yuen, Biometrika 61 (1974)
165): some launches are disturbed as wholes. With f = h - 1, as Yuen has it, too many false effects
are found at small rates, so f = h - 2.

Where more pairs follow while nothing is decided, there are interim analyses after the numbers of
pairs in `ANALYSES`, and each has an equal part of the error (Bonferroni). So all of their intervals
hold together at the whole rate (repeated confidence intervals: C. Jennison, B. Turnbull, J. R.
Stat. Soc. B 51 (1989) 305), whenever one stops.

Why so, by simulation: false effects as a share of their rate, seven analyses of up to 28 pairs,
normal noise of 3 % (`n`), and noise of 2 % with every tenth launch disturbed by 20 % (`d`); how
often an effect of 3 % is found in `d`, and after how many pairs one of 8 % is in `n`:

                                     rate 0.025   0.0025   0.0006     power   pairs
    never trimmed                n      0.73       0.78     0.90
                                 d      0.26       0.32     0.25      0.14     8.2
    trimmed from 5, f = h - 1    n      0.95       1.20     1.62      0.48    11.3
    trimmed from 10, f = h - 1   n      0.86       1.12     1.53      0.48     9.4
    trimmed from 14, f = h - 2   n      0.77       0.86     1.00
                                 d      0.41       0.48     0.50      0.46     8.3

(power and pairs at a rate of 0.0025). Equal parts find 3 % in normal noise in 79 of 100 cases where
falling ones, the most for 5 pairs, find it in 69, and take half a pair more for an effect of 8 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import student_quantile

TRIMMED = 0.2
"""The share of pairs that is cut off at either end ..."""
TRIMMED_FROM = 14
"""... from this number on."""
EFFICIENCY = 0.876
"""The variance of the mean of normal values relative to that of the trimmed mean."""
ROUNDING = 1e-9
"""Relative rounding error: a machine without noise is as fast as itself."""
LOG_MOST = 700.0
"""The exponential of more has no double."""


@dataclass(frozen=True)
class Effect:
    """The mean `log_ratio` of the logarithms of some pairs, with the `variance` of one pair.

    `counted` of the `pairs` are not cut off. Of one pair nothing is certain but its ratio, of none,
    or if any ratio is not finite, not even that: it is NaN. Pairs that are all equal are exact.
    """

    log_ratio: float
    variance: float
    degrees: int
    counted: int
    pairs: int

    @classmethod
    def of(cls, logs: Sequence[float] | Floats, trimmed_from: int = TRIMMED_FROM) -> Effect:
        """The effect from the logarithm of the ratio of each pair."""
        ordered = np.sort(np.asarray(logs, dtype=float))
        pairs = len(ordered)
        if not pairs or not np.isfinite(ordered).all():
            return cls(math.nan, math.nan, 0, 0, pairs)
        if ordered[0] == ordered[-1]:
            return cls(float(ordered[0]), 0.0, pairs - 1, pairs, pairs)
        cut, counted, degrees = _trimmed(pairs, trimmed_from)
        inner = ordered[cut : pairs - cut]
        winsorised = np.clip(ordered, inner[0], inner[-1])
        variance = float(winsorised.var(ddof=1)) * (pairs - 1) / (counted - 1)
        return cls(float(inner.mean()), variance, degrees, counted, pairs)

    @classmethod
    def planned(cls, pairs: int, deviation: float) -> Effect:
        """What this many pairs are likely to say of equal sides, by the deviation of one pair."""
        cut, counted, degrees = _trimmed(pairs, TRIMMED_FROM)
        variance = deviation**2 * counted / pairs / (EFFICIENCY if cut else 1.0)
        return cls(0.0, variance, degrees, counted, pairs)

    @classmethod
    def exact(cls, log_ratio: float) -> Effect:
        """An effect that is known without an error."""
        return cls(log_ratio, 0.0, 1, 1, 1)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(self.variance / self.counted)

    @property
    def ratio(self) -> float:
        """The ratio of times itself, NaN without a pair."""
        return _exp(self.log_ratio)

    def moderated(self, variance: float, degrees: int) -> Effect:
        """The effect with a variance to which other pairs contribute: theirs, with its degrees."""
        total = self.degrees + degrees
        if not self.counted or not total:
            return self
        joined = (self.degrees * self.variance + degrees * variance) / total
        return replace(self, variance=joined, degrees=total)

    def reach(self, false_rate: float) -> float:
        """The half-width of the interval that misses the truth at this rate, of the logarithm."""
        if self.degrees < 1:
            return math.inf
        return student_quantile(self.degrees, 1 - false_rate) * self.error

    def interval(self, false_rate: float) -> tuple[float, float]:
        """The interval of the ratio of times; from 0 to infinity of fewer than two pairs."""
        reach = self.reach(false_rate)
        if math.isinf(reach):
            return 0.0, math.inf
        return _exp(self.log_ratio - reach), _exp(self.log_ratio + reach)

    def is_proven(self, false_rate: float) -> bool:
        """Whether there is an effect, in either direction; rounding errors are none."""
        return abs(self.log_ratio) > max(self.reach(false_rate), ROUNDING)

    def is_within(self, least: float, false_rate: float) -> bool:
        """Whether the whole interval lies within an effect of `least` in both directions."""
        return abs(self.log_ratio) + self.reach(false_rate) < least


@dataclass(frozen=True)
class Analyses:
    """The numbers of pairs after which there is an interim analysis, in ascending order."""

    pairs: tuple[int, ...]

    def until(self, most: int) -> Analyses:
        """The analyses of up to this many pairs, which have the whole error."""
        return Analyses(tuple(pairs for pairs in self.pairs if pairs <= most))

    def part(self, false_rate: float) -> float:
        """The error of each, so that all together have `false_rate` at most."""
        return false_rate / len(self.pairs)


ANALYSES = Analyses((3, 5, 7, 10, 14, 20, 28, 40, 56, 80))


def _trimmed(pairs: int, trimmed_from: int) -> tuple[int, int, int]:
    """How many pairs are cut off at either end, how many remain, and their degrees of freedom."""
    cut = int(TRIMMED * pairs) if pairs >= trimmed_from else 0
    counted = pairs - 2 * cut
    return cut, counted, counted - (2 if cut else 1)


def _exp(log: float) -> float:
    return math.exp(min(max(log, -LOG_MOST), LOG_MOST))
