# SPDX-License-Identifier: Apache-2.0
"""Changes of protocol that cost or save time, from the models' jumps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from nhalf.base.units import format_size, format_time
from nhalf.facts.contests import SETTING, beyond, contests, reported_s
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, with_series
from nhalf.machines.machine import FittedModel, Segment
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import COSTLY, FASTER, between, percent, times, weight
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.keys import RUN_CURVE

SIZES_BESIDE = 3
"""Sizes on each side of a switch that say where a launch lies there."""


class ProtocolSwitch(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        for model in data.models:
            if model.pattern != MAIN_PATTERN:
                continue
            frame = _curve_of(model, data.launches)
            sides = zip(model.segments, model.segments[1:], strict=False)
            for change, (left, right) in zip(model.breakpoints, sides, strict=False):
                if change.kind == "jump":
                    yield from _switch(data, frame, left, right)


def _curve_of(model: FittedModel, launches: pl.DataFrame) -> pl.DataFrame:
    """The launch medians of the curve that a model describes."""
    same = [pl.col(name) == getattr(model, name) for name in RUN_CURVE]
    return launches.filter(pl.col("median_s") > 0, *same)


def _switch(data: Facts, frame: pl.DataFrame, left: Segment, right: Segment) -> Iterator[Finding]:
    before, after = left.to_bytes, right.from_bytes
    jumps = _jumps(frame, left, right)
    if len(jumps) < 2:
        return
    jump = ratio_interval(jumps)
    if jump.high >= 1 / COSTLY and jump.low <= COSTLY:
        return
    costs = jump.low > COSTLY
    first = frame.row(0, named=True)
    title = with_series(frame.head(1), data)["series"][0]
    place = f"at {before} B" if after <= before * 1.06 else f"between {before} B and {after} B"
    yield Finding(
        f"{title}: the switch {place} {_change(jump)}: "
        f"{format_time(reported_s(frame, before))} for {format_size(before)}, "
        f"{format_time(reported_s(frame, after))} for {format_size(after)}.",
        importance=weight(jump.median, 45 if costs else 40, 70),
        kind="switch-costs" if costs else "switch-saves",
        label="Protocol switch",
        figure=_figure(jump),
        remedy=_quicker(data, first, after) if costs else "",
        value=jump.median,
        low=jump.low,
        high=jump.high,
        mpi=first["mpi"],
        size_bytes=before,
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
    jump = _modelled(right, place) / _modelled(left, place)
    pairs = sides[0].join(sides[1], on="launch", suffix="_right").sort("launch")
    return (pairs["level_right"] / pairs["level"] * jump).to_list()


def _change(jump: Interval) -> str:
    """'costs 40 % (interval 35 to 46 %)', 'saves 30 % ...' or 'costs 6.8x the time ...'."""
    if jump.median >= 2:
        return f"costs {times(jump.median)} the time ({between(jump)})"
    share, low, high = (abs(ratio - 1) for ratio in (jump.median, jump.low, jump.high))
    verb = "costs" if jump.median > 1 else "saves"
    low, high = min(low, high), max(low, high)
    return f"{verb} {percent(share)} (interval {low * 100:.0f} to {percent(high)})"


def _modelled(segment: Segment, size: int) -> float:
    return float(segment.t0_s + size / segment.r_inf_Bps)


def _quicker(data: Facts, point: dict[str, Any], size: int) -> str:
    """The library measured to be faster in the same setting at this size or next to it."""
    for contest in contests(data):
        near = [common_size for common_size in contest.sizes() if size <= common_size <= 2 * size]
        if not near or any(contest.setting[name] != point[name] for name in SETTING):
            continue
        rivals = [mpi for mpi in contest.titles if mpi != point["mpi"]]
        best = min(rivals, key=lambda mpi: contest.time_s(mpi, near[0]))
        interval = beyond(contest.ratios(point["mpi"], best, near[:1]), FASTER)
        if interval is not None:
            needs = format_time(contest.time_s(best, near[0]))
            return f"{contest.titles[best]} needs {needs} for {format_size(near[0])} here."
    return ""


def _figure(jump: Interval) -> str:
    """'+40 %' where a ratio says less than a share."""
    share = f"{(jump.median - 1) * 100:+.0f} %".replace("-", "−")
    return share if jump.median < 2 else ""
