# SPDX-License-Identifier: Apache-2.0
"""Launches whose ranks had to share cores with other processes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts

TAKEN_LEAST = 0.25
"""Cores that others may keep busy before ranks notice: services take less."""
SHARE_LEAST = 1 / 3
"""Share of busy launches that is reported: fewer are outvoted by the others."""


@dataclass(frozen=True)
class BusyLaunches:
    """How many of the launches met a busy machine, and the cores that others kept busy in the
    median one of these, of those allowed.
    """

    launches: int
    busy: int
    taken_cores: float
    allowed: int


@fact
def busy_launches(facts: Facts) -> BusyLaunches | None:
    """The launches in which others and the ranks wanted more cores than there are.

    None if they are few, or if it is unknown what others took.
    """
    launches = [launch for launches in facts.find_others().values() for launch in launches]
    busy = [
        launch
        for launch in launches
        if launch.taken_cores >= TAKEN_LEAST
        and launch.ranks + launch.taken_cores > launch.allowed + TAKEN_LEAST
    ]
    if len(busy) <= SHARE_LEAST * len(launches):
        return None
    taken_cores = median(launch.taken_cores for launch in busy)
    return BusyLaunches(len(launches), len(busy), taken_cores, max(b.allowed for b in busy))
