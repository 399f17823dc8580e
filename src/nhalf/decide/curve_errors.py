"""The errors that the curves of a family may have, by what is said of them, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from nhalf.decide.family import FALSE_ALARMS, FALSE_EQUIVALENCES, family_error
from nhalf.decide.interim_analyses import analysis_rate
from nhalf.decide.ratio_intervals import Ends, Estimates

LOG_MOST = 700.0
"""A larger logarithm has no exponential."""


@dataclass(frozen=True)
class CurveErrors:
    """The error of every curve that is called slower or faster, and not slower or not faster."""

    slower_error: float
    faster_error: float
    not_slower_error: float
    not_faster_error: float

    @classmethod
    def of_family(cls, family: Sequence[Estimates], log_threshold: float, analyses: int) -> Self:
        """The errors of a family with this many interim analyses; the tolerance is a logarithm."""
        directions = (family, [estimates.reversed() for estimates in family])
        alarm_rate = analysis_rate(analyses, FALSE_ALARMS)
        equivalence_rate = analysis_rate(analyses, FALSE_EQUIVALENCES)
        changes = (
            [float(estimates.errors_above(log_threshold).min()) for estimates in direction]
            for direction in directions
        )
        equivalences = (
            [estimates.error_within(log_threshold) for estimates in direction]
            for direction in directions
        )
        return cls(
            *(family_error(probabilities, alarm_rate) for probabilities in changes),
            *(family_error(probabilities, equivalence_rate) for probabilities in equivalences),
        )

    def ends(self, estimates: Estimates) -> Ends:
        """Centre, low and high: ends beyond a ratio of 1 are those of a change, others of none.

        So no interval excludes 1 at an error that does not suffice for an alarm.
        """
        centre, low, high = estimates.ends(self.slower_error, self.faster_error)
        _, inner_low, inner_high = estimates.ends(self.not_faster_error, self.not_slower_error)
        low = np.where(low > 0, low, np.maximum(low, np.minimum(inner_low, 0.0)))
        high = np.where(high < 0, high, np.minimum(high, np.maximum(inner_high, 0.0)))
        return centre, low, high

    def detectable_ratio(self, estimates: Estimates) -> float:
        """The smallest slow-down of the level that would show."""
        centre, low, _ = (ends[0] for ends in estimates.ends(self.slower_error, self.faster_error))
        return math.exp(min(float(centre - low), LOG_MOST))
