# SPDX-License-Identifier: Apache-2.0
"""Looks at a comparison while its later run goes on: how long after each other, at what error.

A run that goes on until its comparison is decided looks at it LOOKS times, and a false alarm may
come of each. Each look has the share 1 / LOOKS of the rate of false alarms, so that all of them
together have no more than the rate (Bonferroni's inequality), whichever curves were measured for
longer because they were unclear. The shares are equal (S. Pocock, Group sequential methods in the
design and analysis of clinical trials, Biometrika 64 (1977) 191, with less conservative ones), so
that a curve that is decided, and therefore not measured any further, keeps its interval but for
what other curves change in it (family.py, between_runs.py).

After each look the time until the next one doubles, so that late looks do not wait for little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nhalf.decide.family import FALSE_ALARMS

LOOKS = 4
"""The first is after the run itself."""


def look_budgets_s(time_s: float) -> list[float]:
    """The seconds between the looks, which take `time_s` together; none if there is no time."""
    if time_s <= 0:
        return []
    parts = [2.0**look for look in range(LOOKS - 1)]
    return [time_s * part / sum(parts) for part in parts]


def look_rate(looks: int, rate: float = FALSE_ALARMS) -> float:
    """The rate of errors of each look, if there are `looks` that have `rate` together."""
    return rate / max(looks, 1)


def looks_at(*plans: Mapping[str, Any]) -> int:
    """The looks for which runs of these plans were made, the most of any."""
    looks = [plan.get("looks") for plan in plans]
    return max((number for number in looks if isinstance(number, int)), default=1)
