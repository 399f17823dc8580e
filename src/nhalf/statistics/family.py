"""Many curves of one night: how likely an error each may have, so that alarms can be believed.

A night compares dozens of curves, and with 95 % for each of them some alarm is near certain. The
share of false alarms among all alarms of a night is controlled instead (Y. Benjamini, Y. Hochberg,
Controlling the false discovery rate, J. R. Statist. Soc. B 57 (1995) 289): of m curves, ordered by
their probabilities, the largest number R is reported of which each has at most R / m of the rate.
On a night without any difference that is the probability of any alarm at all.

Curves of a night are dependent: launches, cores and disturbances are common to them, so that they
err in one direction. The procedure holds under such positive dependence (Y. Benjamini, D.
Yekutieli, Annals of Statistics 29 (2001) 1165), separately for slower and for faster; the factor
of about log m for any other dependence is not paid.

What is called as fast as before, or not slower, is a discovery, too, by a test of equivalence (D.
Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657): the share of false ones among these is
controlled in the same way, at another rate.

Intervals at the error that decided, R / m of the rate, agree with the verdicts: they exclude a
ratio of 1 where a difference is reported (Y. Benjamini, D. Yekutieli, J. Am.
Statist. Assoc. 100 (2005) 71).

A run that goes on until its comparison is decided has `INTERIM_ANALYSES`, and a false alarm may
come of each. Each has an equal share of the rate of false alarms, so that all of them together have
no more than the rate (Bonferroni's inequality), whichever curves were measured for longer because
they were unclear. The shares are equal (S. Pocock, Group sequential methods in the design and
analysis of clinical trials, Biometrika 64 (1977) 191, with less conservative ones), so that a curve
that is decided, and therefore not measured any further, keeps its interval but for what other
curves change in it (between_runs.py). After each interim analysis the time until the next one
doubles, so that late ones do not wait for little.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nhalf.statistics.ratio_intervals import Ends, Estimates

FALSE_ALARMS = 0.02
"""Rate of false alarms, of slower and of faster each: one night in fifty."""
FALSE_TAILS = 0.01
"""Rate of false alarms about tails: they are another family than medians, so that
neither takes power from the other. The share of false alarms among both is at most the sum."""
FALSE_EQUIVALENCES = 0.05
"""Share of curves beyond the tolerance among those called not slower, or not faster."""


def family_error(probabilities: Sequence[float], rate: float = FALSE_ALARMS) -> float:
    """The error that every member may have: R / m of the rate, with R = 1 if none is reported.

    `probabilities` has for each member the smallest error at which it would be reported. Exactly
    the members at or below the result are to be reported.
    """
    count = max(len(probabilities), 1)
    allowed = rate * np.arange(1, count + 1) / count
    ordered = np.sort(np.asarray(probabilities, dtype=np.float64))
    passing = np.flatnonzero(ordered <= allowed[: len(ordered)])
    return float(allowed[passing[-1] if len(passing) else 0])


INTERIM_ANALYSES = 4
"""The first is after the run itself."""


def analysis_budgets_s(time_s: float) -> list[float]:
    """The seconds between the analyses, which take `time_s` together; none if there is no time."""
    if time_s <= 0:
        return []
    parts = [2.0**number for number in range(INTERIM_ANALYSES - 1)]
    return [time_s * part / sum(parts) for part in parts]


def analysis_rate(analyses: int, rate: float = FALSE_ALARMS) -> float:
    """The rate of errors of each analysis, if this many have `rate` together."""
    return rate / max(analyses, 1)


def analyses_of(*plans: Mapping[str, Any]) -> int:
    """The interim analyses for which runs of these plans were made, the most of any."""
    analyses = [plan.get("looks") for plan in plans]
    return max((number for number in analyses if isinstance(number, int)), default=1)


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
    def of_family(
        cls,
        family: Sequence[Estimates],
        log_threshold: float,
        analyses: int,
        rate: float = FALSE_ALARMS,
    ) -> Self:
        """The errors of a family with this many interim analyses; the tolerance is a logarithm."""
        directions = (family, [estimates.reversed() for estimates in family])
        alarm_rate = analysis_rate(analyses, rate)
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
