"""Interim analyses of a comparison while its later run goes on: when, and at what error.

A run that goes on until its comparison is decided has `INTERIM_ANALYSES`, and a false alarm may
come of each. Each has an equal share of the rate of false alarms, so that all of them together have
no more than the rate (Bonferroni's inequality), whichever curves were measured for longer because
they were unclear. The shares are equal (S. Pocock, Group sequential methods in the design and
analysis of clinical trials, Biometrika 64 (1977) 191, with less conservative ones), so that a curve
that is decided, and therefore not measured any further, keeps its interval but for what other
curves change in it (family.py, between_runs.py).

After each the time until the next one doubles, so that late ones do not wait for little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nhalf.decide.family import FALSE_ALARMS

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
