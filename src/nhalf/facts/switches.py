# SPDX-License-Identifier: Apache-2.0
"""Changes of protocol, from the models' jumps: what each costs or saves, launch by launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.facts.contests import SETTING, reported_s
from nhalf.facts.difference import COSTLY
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, with_series
from nhalf.machines.machine import FittedModel, Segment
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.keys import RUN_CURVE

SIZES_BESIDE = 3
"""Sizes on each side of a switch that say where a launch lies there."""


@dataclass(frozen=True)
class Quicker:
    """The library that is faster beyond doubt in the same setting, behind a switch that costs."""

    title: str
    size_bytes: int
    time_s: float


@dataclass(frozen=True)
class Switch:
    """One switch that matters: `jump` is the time after it over that had nothing changed.

    Before and after are the sizes beside it and what is reported there.
    """

    series: str
    mpi: str
    before_bytes: int
    after_bytes: int
    before_s: float
    after_s: float
    jump: Interval
    quicker: Quicker | None

    @property
    def costs(self) -> bool:
        """Whether it costs time; otherwise it saves some."""
        return self.jump.low > COSTLY


def switches(facts: Facts) -> Iterator[Switch]:
    """The switches of the main pattern whose jump lies beyond COSTLY, either way."""
    for model in facts.models:
        if model.pattern != MAIN_PATTERN:
            continue
        frame = _curve_of(model, facts.launches)
        sides = zip(model.segments, model.segments[1:], strict=False)
        for change, (left, right) in zip(model.breakpoints, sides, strict=False):
            if change.kind == "jump":
                yield from _switch(facts, frame, left, right)


def _curve_of(model: FittedModel, launches: pl.DataFrame) -> pl.DataFrame:
    """The launch medians of the curve that a model describes."""
    same = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    return launches.filter(pl.col("median_s") > 0, *same)


def _switch(facts: Facts, frame: pl.DataFrame, left: Segment, right: Segment) -> Iterator[Switch]:
    before, after = left.to_bytes, right.from_bytes
    jumps = _jumps(frame, left, right)
    if len(jumps) < 2:
        return
    jump = ratio_interval(jumps)
    if jump.high >= 1 / COSTLY and jump.low <= COSTLY:
        return
    first = frame.row(0, named=True)
    yield Switch(
        with_series(frame.head(1), facts)["series"][0],
        first["mpi"],
        before,
        after,
        reported_s(frame, before),
        reported_s(frame, after),
        jump,
        _quicker(facts, first, after) if jump.low > COSTLY else None,
    )


def _jumps(frame: pl.DataFrame, left: Segment, right: Segment) -> list[float]:
    """Per launch, the time after a switch over what the library would need had it gone on before.

    The models give the shape; where a launch lies above or below them is the middle over the
    nearest sizes of each side, so that a hiccup at one size is not taken for the switch.
    """
    sides = []
    for segment, nearest in ((left, True), (right, False)):
        inside = frame.filter(pl.col("bytes").is_between(segment.from_bytes, segment.to_bytes))
        sizes = inside["bytes"].unique().sort(descending=nearest).head(SIZES_BESIDE).to_list()
        modelled = segment.t0_s + pl.col("bytes") / segment.r_inf_Bps
        levels = inside.filter(pl.col("bytes").is_in(sizes)).group_by("launch")
        sides.append(levels.agg((pl.col("median_s") / modelled).median().alias("level")))
    place = right.from_bytes
    jump = right.time_s(place) / left.time_s(place)
    pairs = sides[0].join(sides[1], on="launch", suffix="_right").sort("launch")
    return (pairs["level_right"] / pairs["level"] * jump).to_list()


def _quicker(facts: Facts, point: dict[str, Any], size: int) -> Quicker | None:
    """The library measured to be faster in the same setting at this size or next to it."""
    for contest in facts.contests():
        if any(contest.setting[name] != point[name] for name in SETTING):
            continue
        found = contest.quicker(point["mpi"], size)
        if found is not None:
            mpi, near = found
            return Quicker(contest.titles[mpi], near, contest.time_s(mpi, near))
    return None
