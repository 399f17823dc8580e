# SPDX-License-Identifier: Apache-2.0
"""Changes of a curve that are no noise; jumps over all patterns: protocol switches, or caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from nhalf.base.operations import COLLECTIVES, NATIVE
from nhalf.facts.causes import Cache, cache_near
from nhalf.facts.contests import SETTING, contests
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.jumps import Jump, jump_between, jump_ratios
from nhalf.facts.series import plain_points, with_series
from nhalf.machines.machine import Breakpoint, FittedModel, Segment
from nhalf.store.keys import RUN_CURVE, without

CONFIDENCE = 0.99
"""Confidence required of a jump, since the fit chose the place where it is largest."""
SAME_PLACE = 1.1
"""Sizes within this factor of each other count as the same."""
AT_ONE_SIZE = 1.06
"""A jump between sizes this close is the library's: no cache effect is so sharp."""
SUBJECT = without(RUN_CURVE, "pattern", "axes", "algorithm")


@dataclass(frozen=True)
class Quicker:
    """The library that is significantly faster in the same setting after a costly switch."""

    title: str
    size_bytes: int
    time_s: float


@dataclass(frozen=True)
class Switch:
    """One significant change, in the pattern in which it is largest.

    `also` are the other patterns in which the same library changes there; `cache` is close enough
    in size to be the cause.
    """

    series: str
    mpi: str
    pattern: str
    subject: Mapping[str, Any]
    jump: Jump
    quicker: Quicker | None
    cache: Cache | None
    also: tuple[tuple[str, Jump], ...] = ()

    @property
    def at_one_size(self) -> bool:
        """Whether it is located to nearly one size."""
        return self.jump.after_bytes <= self.jump.before_bytes * AT_ONE_SIZE


@fact
def switches(facts: Facts) -> list[Switch]:
    """The switches of all patterns whose jump exceeds COSTLY, each once per library."""
    merged: list[Switch] = []
    largest_first = sorted(_all(facts), key=lambda switch: -_size_of(switch.jump))
    for switch in largest_first:
        place = next((i for i, earlier in enumerate(merged) if _same(switch, earlier)), None)
        if place is None:
            merged.append(switch)
        elif switch.pattern != merged[place].pattern:
            also = (*merged[place].also, (switch.pattern, switch.jump))
            merged[place] = replace(merged[place], also=also)
    return merged


def _size_of(jump: Jump) -> float:
    return max(jump.at_least, 1 / jump.at_least)


def _same(first_switch: Switch, second_switch: Switch) -> bool:
    """Whether two switches are of one library, in one direction, at one size."""
    first, second = first_switch.jump, second_switch.jump
    last_before = max(first.before_bytes, second.before_bytes)
    first_after = min(first.after_bytes, second.after_bytes)
    is_same_size = last_before <= first_after * SAME_PLACE
    is_same_subject = first_switch.subject == second_switch.subject
    return is_same_size and is_same_subject and first.costs == second.costs


@fact
def _all(facts: Facts) -> Iterator[Switch]:
    """Every jump of every curve of messages between two ranks and of blocking operations."""
    patterns = {*plain_points(facts)["pattern"].unique(), *COLLECTIVES}
    for model in facts.models:
        own = model.algorithm in ("", NATIVE) and not model.axes
        if not (own and model.pattern in patterns):
            continue
        launches = launches_of(model, facts.launches)
        sides = zip(model.segments, model.segments[1:], strict=False)
        for change, (before, after) in zip(model.breakpoints, sides, strict=False):
            jump = jump_between(launches, before, after) if change.kind == "jump" else None
            if jump is not None:
                yield _switch(facts, launches, jump)


def _switch(facts: Facts, launches: pl.DataFrame, jump: Jump) -> Switch:
    first = launches.row(0, named=True)
    switch = Switch(
        series=with_series(launches.head(1), facts)["series"][0],
        mpi=first["mpi"],
        pattern=first["pattern"],
        subject={name: first[name] for name in SUBJECT},
        jump=jump,
        quicker=_quicker(facts, first, jump.after_bytes) if jump.costs else None,
        cache=cache_near(facts.environments.get(first["run"], {}), jump),
    )
    return replace(switch, cache=None) if switch.at_one_size else switch


def _quicker(facts: Facts, point: dict[str, Any], size: int) -> Quicker | None:
    """The library measured to be faster in the same setting at this size or next to it."""
    for contest in contests(facts, point["pattern"]):
        if any(contest.setting[name] != point[name] for name in SETTING):
            continue
        quicker = contest.quicker(point["mpi"], size)
        if quicker is not None:
            mpi, near = quicker
            return Quicker(contest.titles[mpi], near, contest.time_s(mpi, near))
    return None


@fact
def evident_changes(facts: Facts, model: FittedModel) -> list[Breakpoint]:
    """The breaks of a fitted curve without those that may be noise."""
    if not model.breakpoints:
        return []
    launches = launches_of(model, facts.launches)
    sides = zip(model.breakpoints, model.segments, model.segments[1:], strict=False)
    return [
        change
        for change, before, after in sides
        if jumps(launches, before, after) or (change.kind == "bend" and bends(before, after))
    ]


def launches_of(model: FittedModel, launches: pl.DataFrame) -> pl.DataFrame:
    """The launch medians of the curve that a model describes."""
    is_of_model = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    return launches.filter(pl.col("median_s") > 0, *is_of_model)


def jumps(launches: pl.DataFrame, before: Segment, after: Segment) -> bool:
    """Whether the time rises more, or less, than the sizes before it can explain."""
    costs, saves = jump_ratios(launches, before, after, CONFIDENCE)
    return (costs is not None and costs.low > 1) or (saves is not None and saves.high < 1)


def bends(before: Segment, after: Segment) -> bool:
    """Whether the rates differ; they do not if one of them has no interval."""
    if before.r_inf_ci is None or after.r_inf_ci is None:
        return False
    return before.r_inf_ci[1] < after.r_inf_ci[0] or after.r_inf_ci[1] < before.r_inf_ci[0]
