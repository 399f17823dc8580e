# SPDX-License-Identifier: Apache-2.0
"""Whether one setting is faster than another, from pairs of launches, with looks at the data.

Launches of a pair follow each other, in random order, so that what lasts longer than a pair meets
both. The datum is the logarithm of the ratio of their times; beyond `TRIMMED_FROM` pairs its mean
is trimmed (Yuen 1974, as in statistics/many_tests.py). After n pairs the interval

    exp(m -+ t(f, 1 - a / 2) sqrt(v / n))

has the share a of the error probability that is left for this look, so that all looks together
miss the truth with the probability of the whole: repeated confidence intervals (C. Jennison,
B. Turnbull, Interim analyses: the repeated confidence interval approach, J. R. Stat. Soc. B 51
(1989) 305), with an error that is spent look by look (K. Lan, D. DeMets, Discrete sequential
boundaries for clinical trials, Biometrika 70 (1983) 659). More launches may follow for as long as
one likes, and the interval that ends the search still holds.

A gain is proven where the lower end is above a gain of `LEAST_GAIN`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.statistics.many_tests import trimmed

LEAST_GAIN = math.log(1.01)
"""Nobody starts a program differently for less."""
FALSE_SHARE = 0.05
"""The rate at which a whole search claims a gain that is none."""
LOOKS = (3, 5, 7, 10, 14, 20, 28, 40, 56, 80)
"""Numbers of pairs after which there is a look."""
LOOK_SHARES = (0.10, 0.25, 0.20, 0.15, 0.10, 0.06, 0.05, 0.04, 0.03, 0.02)
"""How the error is shared by the looks."""
TRIMMED_FROM = 10
EXACT_PAIRS = 2
"""This many pairs of equal times mean that times do not vary."""
PRECISE = 0.02
"""A proven gain is precise enough with an interval of this half-width, or of ..."""
PRECISE_SHARE = 0.2
"""... this share of the gain, both of logarithms."""


@dataclass(frozen=True)
class SettingGain:
    """By which factor a setting is faster: the centre and its interval, from pairs of launches."""

    factor: float
    low: float
    high: float
    pairs: int

    @property
    def is_proven(self) -> bool:
        """Whether the program is faster by more than nothing that matters."""
        return math.log(self.low) > LEAST_GAIN if self.low > 0 else False

    @property
    def is_precise(self) -> bool:
        """Whether more pairs would tell little more."""
        reach = max(math.log(self.high / self.factor), math.log(self.factor / self.low))
        return reach <= max(PRECISE, PRECISE_SHARE * abs(math.log(self.factor)))

    @property
    def is_hopeless(self) -> bool:
        """Whether it is no gain that matters, or does not look like one after several pairs."""
        looks_small = self.pairs >= LOOKS[2] and math.log(self.factor) <= LEAST_GAIN
        return looks_small or (self.high > 0 and math.log(self.high) <= LEAST_GAIN)


def together(gains: Sequence[SettingGain]) -> SettingGain:
    """The gain of several steps, each over those before: the product.

    The intervals of a search hold together, at its rate, and so does that of their product.
    """
    return SettingGain(
        math.prod(gain.factor for gain in gains),
        math.prod(gain.low for gain in gains),
        math.prod(gain.high for gain in gains),
        sum(gain.pairs for gain in gains),
    )


def is_exact(logs: Sequence[float]) -> bool:
    """Whether times do not vary at all, as those of a virtual machine."""
    return len(logs) >= EXACT_PAIRS and all(log == logs[0] for log in logs)


def is_look(logs: Sequence[float]) -> bool:
    """Whether there is a look after these pairs."""
    return len(logs) in LOOKS or (len(logs) == EXACT_PAIRS and is_exact(logs))


def gain(logs: Sequence[float], false_share: float) -> SettingGain:
    """The gain with the interval of a look: `false_share` is that of all looks, at both ends.

    Between two looks the error of the next one counts; of one pair the interval has no ends.
    """
    values = np.array(logs)
    if is_exact(logs):
        factor = math.exp(values[0])
        return SettingGain(factor, factor, factor, len(logs))
    if len(logs) < 2:
        factor = math.exp(values[0]) if len(logs) else 1.0
        return SettingGain(factor, 0.0, math.inf, len(logs))
    if len(logs) < TRIMMED_FROM:
        centre, variance, count = float(values.mean()), float(values.var(ddof=1)), len(logs)
    else:
        centre, variance, count = trimmed(values)
    reach = look_quantile(len(logs), count, false_share) * math.sqrt(variance / count)
    ends = (math.exp(centre - reach), math.exp(min(centre + reach, 700.0)))
    return SettingGain(math.exp(centre), *ends, len(logs))


def look_quantile(pairs: int, values: int, false_share: float) -> float:
    """Student's quantile of the interval at the look after some pairs, of which `values` count."""
    from scipy.special import stdtrit

    share = next(
        (part for look, part in zip(LOOKS, LOOK_SHARES, strict=True) if pairs <= look),
        LOOK_SHARES[-1],
    )
    return float(stdtrit(values - 1, 1 - false_share * share / 2))


def attempt_rate(number: int, whole: float = FALSE_SHARE) -> float:
    """The error of the proof attempt of this number, from 1: 1/2, 1/6, 1/12 ... of the whole.

    All attempts together have at most the whole.
    """
    return whole / (number * (number + 1))
