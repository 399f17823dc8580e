# SPDX-License-Identifier: Apache-2.0
"""Launches whose ranks had to share cores with other processes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts

TAKEN_LEAST = 0.25
"""Cores that others keep busy before ranks notice: services take less."""
SHARE_LEAST = 1 / 3
"""Share of crowded launches that is reported: fewer are outvoted by the others."""


@dataclass(frozen=True)
class Crowded:
    """How many of the launches were crowded, and the cores that others kept busy in the median one
    of these, of those allowed.
    """

    launches: int
    crowded: int
    taken_cores: float
    allowed: int


@fact
def crowded(facts: Facts) -> Crowded | None:
    """The launches that others disturbed; None if few were, or if it is unknown."""
    launches = [launch for launches in facts.find_others().values() for launch in launches]
    disturbed = [
        launch
        for launch in launches
        if launch.taken_cores >= TAKEN_LEAST
        and launch.ranks + launch.taken_cores - TAKEN_LEAST > launch.allowed
    ]
    if len(disturbed) <= SHARE_LEAST * len(launches):
        return None
    taken_cores = median(launch.taken_cores for launch in disturbed)
    return Crowded(
        len(launches), len(disturbed), taken_cores, max(launch.allowed for launch in disturbed)
    )
