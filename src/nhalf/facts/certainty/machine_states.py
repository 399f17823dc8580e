"""The states in which the machine was measured, and whether other processes used its cores."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.flags import PLACES, is_elsewhere


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
