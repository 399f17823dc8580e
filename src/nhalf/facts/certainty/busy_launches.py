"""Launches whose ranks had to share cores with other processes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.doubt import CERTAIN, Doubt

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


def busier(before: Facts, now: Facts) -> Doubt:
    """Why what is slower may be so by other processes; CERTAIN if they took as much before."""
    busy = busy_launches(now)
    busy_before = busy_launches(before)
    taken_before = busy_before.taken_cores if busy_before else 0.0
    if busy is None or busy.taken_cores < taken_before + TAKEN_LEAST:
        return CERTAIN
    cores = f"{busy.taken_cores:.1f} of {busy.allowed} {'core' if busy.allowed == 1 else 'cores'}"
    earlier = f", {taken_before:.1f} before" if busy_before else ""
    return Doubt(
        f"other processes kept {cores} busy{earlier}, so that ranks had to share cores",
        "measure again on an idle machine",
    )
