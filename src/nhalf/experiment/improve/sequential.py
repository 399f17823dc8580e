"""Whether one setting is faster than another, from pairs of launches, with interim analyses.

A gain is proven where the lower end of its interval (statistics/paired.py) is above a gain of
`LEAST_GAIN`. More pairs may follow for as long as one likes, and the interval that ends the search
still holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.statistics.paired import ANALYSES, Effect

LEAST_GAIN = math.log(1.01)
"""Nobody starts a program differently for less."""
FALSE_SHARE = 0.05
"""The rate at which a whole search claims a gain that is none."""
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
        looks_small = self.pairs >= ANALYSES.pairs[2] and math.log(self.factor) <= LEAST_GAIN
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


def is_analysed(logs: Sequence[float]) -> bool:
    """Whether there is an analysis after these pairs."""
    return len(logs) in ANALYSES.pairs or (len(logs) == EXACT_PAIRS and is_exact(logs))


def gain(logs: Sequence[float], false_share: float) -> SettingGain:
    """The gain with the interval of one analysis; `false_share` is that of all, at both ends.

    Of one pair the interval has no ends.
    """
    effect = Effect.of(logs)
    return SettingGain(effect.ratio, *effect.interval(ANALYSES.part(false_share)), effect.pairs)


def attempt_rate(number: int, whole: float = FALSE_SHARE) -> float:
    """The error of the proof attempt of this number, from 1: 1/2, 1/6, 1/12 ... of the whole.

    All attempts together have at most the whole.
    """
    return whole / (number * (number + 1))
