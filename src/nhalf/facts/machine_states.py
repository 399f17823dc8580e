"""States of the machine during a run: two speeds, and launches beside other work."""

from dataclasses import dataclass
from statistics import median

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.advice import PLACES, is_elsewhere
from nhalf.statistics.doubt import CERTAIN, Doubt

TAKEN_LEAST = 0.25
"""Cores that others may keep busy before ranks notice: services take less."""
BUSY_SHARE_LEAST = 1 / 3
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
    if len(busy) <= BUSY_SHARE_LEAST * len(launches):
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
    form = f"other processes kept {cores} busy{earlier}, so that ranks had to share cores"
    return Doubt(form, "measure again on an idle machine")


@dataclass(frozen=True)
class MachineState:
    """The time of a flag between two cores, and the share of measurements in this state."""

    flag_s: float
    share: float


@dataclass(frozen=True)
class MachineStates:
    """The states of one run on the same cores, the most frequent first.

    `changed_share` is the share of measurements during which the machine changed; of
    `points`, `elsewhere` are reported in a state other than the first.
    """

    run: str
    ranks: int
    placement: str
    states: tuple[MachineState, ...]
    changed_share: float
    points: int
    elsewhere: int


@fact
def machine_states(facts: Facts) -> list[MachineStates]:
    """One entry for each run, number of ranks and placement with more than one state."""
    stated = facts.stated.drop_nulls("state_s")
    machines = []
    for key, part in stated.group_by(PLACES, maintain_order=True):
        counts = part.drop_nans("state_s")["state_s"].value_counts().sort("count", descending=True)
        states = tuple(
            MachineState(flag_s, count / part.height) for flag_s, count in counts.iter_rows()
        )
        if len(states) < 2:
            continue
        is_here = [pl.col(name) == value for name, value in zip(PLACES, key, strict=True)]
        points = facts.summary.filter(*is_here)
        elsewhere = points.filter(is_elsewhere()).height
        changed_share = 1 - sum(state.share for state in states)
        run, ranks, placement = (str(key[0]), int(str(key[1])), str(key[2]))
        machines.append(
            MachineStates(run, ranks, placement, states, changed_share, points.height, elsewhere)
        )
    return machines


SHARE_LEAST = 0.1


@fact
def taken_share(facts: Facts) -> float:
    """The share of measurements without an answer to their flag; 0 if it is small.

    Only cores that answered at other times count: others cannot pass flags at all.
    """
    can_pass = pl.col("flag_s").is_not_null().any().over(PLACES)
    flags = facts.stated.filter(can_pass)["flag_s"]
    share = flags.null_count() / len(flags) if len(flags) else 0.0
    return share if share >= SHARE_LEAST else 0.0
