"""Jumps of a curve between two sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import COSTLY
from nhalf.machines.machine import Segment
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval

SIZES_MIN = 3
SIZES_BESIDE = 3
"""Sizes on each side of a jump that determine a launch's level there."""
LAUNCHES_MIN = 3
"""Two launches that agree by chance prove no jump."""
LAUNCHES_MIXED_MIN = 5
"""Launches in several states have to be more, because each state may have another jump."""
COHERENT = 1.25
"""A jump from several sizes that deviates by more than this from that of the two adjacent sizes is
rejected: those two are what a reader sees."""


@dataclass(frozen=True)
class Jump:
    """The reported values at the sizes next to a jump, and the jump itself (1: none)."""

    before_bytes: int
    after_bytes: int
    before_s: float
    after_s: float
    ratio: Interval

    @property
    def costs(self) -> bool:
        """Whether it costs time; otherwise it saves some."""
        return self.ratio.median > 1

    @property
    def at_least(self) -> float:
        """The end of its interval that is closer to no jump."""
        return self.ratio.low if self.costs else self.ratio.high

    @property
    def is_between_its_sizes(self) -> bool:
        """Whether most of it lies between the two sizes, and not at others beside them."""
        return abs(math.log(self.after_s / self.before_s)) >= abs(math.log(self.ratio.median)) / 2

    @property
    def expected_s(self) -> float:
        """The expected time of the size after it without the jump."""
        return self.after_s / self.ratio.median


def jump_between(
    launches: pl.DataFrame, by_state: pl.DataFrame, lower: Segment, upper: Segment
) -> Jump | None:
    """The jump between two segments of a curve of launch medians, if it lies beyond COSTLY.

    `launches` has the columns launch, bytes and median_s (positive) of the reported state, whose
    times are shown; `by_state` those of all states, each of a launch as one of its own: a jump is a
    ratio of times in equal states, and these count where the reported state has too few.
    """
    before, after = lower.to_bytes, upper.from_bytes
    costs, saves = jump_ratios(launches, by_state, lower, upper)
    before_s, after_s = _reported_s(launches, before), _reported_s(launches, after)
    if costs is not None and costs.low > COSTLY:
        return Jump(before, after, before_s, after_s, costs)
    if saves is not None and saves.high < 1 / COSTLY:
        return Jump(before, after, before_s, after_s, saves)
    return None


def jump_ratios(
    launches: pl.DataFrame,
    by_state: pl.DataFrame,
    lower: Segment,
    upper: Segment,
    confidence: float = 0.95,
) -> tuple[Interval | None, Interval | None]:
    """The jump over the longest expected time, and over the shortest; None with few launches."""
    longest, shortest = _growths(launches, lower, upper.from_bytes)
    frames = (launches, by_state)
    costs = _ratio(*frames, lower, upper, longest, confidence)
    return costs, _ratio(*frames, lower, upper, shortest, confidence)


def _growths(launches: pl.DataFrame, segment: Segment, after: int) -> tuple[float, float]:
    """Bounds of the expected time of the next size, relative to a segment's last size: max, min."""
    before = segment.to_bytes
    # What an empty message takes says nothing of the time per byte.
    most = after / before if before else 1.0
    if _sizes(launches, segment).len() < SIZES_MIN:
        return most, 1.0
    growth = min(max(segment.time_s(after) / segment.time_s(before), 1.0), most)
    return growth, growth


def _ratio(
    launches: pl.DataFrame,
    by_state: pl.DataFrame,
    lower: Segment,
    upper: Segment,
    growth: float,
    confidence: float,
) -> Interval | None:
    """The jump with its interval; from several sizes if they agree with the adjacent ones."""
    adjacent = over_sizes = None
    for frame, launches_min in ((launches, LAUNCHES_MIN), (by_state, LAUNCHES_MIXED_MIN)):
        if adjacent is None and over_sizes is None:
            adjacent, over_sizes = (
                ratio_interval(ratios, confidence) if len(ratios) >= launches_min else None
                for ratios in (
                    _beside(frame, lower.to_bytes, upper.from_bytes, growth),
                    _over_sizes(frame, lower, upper, growth),
                )
            )
    if over_sizes is None:
        return adjacent
    before_s = _reported_s(launches, lower.to_bytes)
    observed = _reported_s(launches, upper.from_bytes) / before_s / growth
    return over_sizes if 1 / COHERENT < over_sizes.median / observed < COHERENT else adjacent


def _beside(launches: pl.DataFrame, before: int, after: int, growth: float) -> list[float]:
    """Per launch, the jump from the two adjacent sizes alone."""
    before_launches = launches.filter(bytes=before).select("launch", before_s="median_s")
    paired = launches.filter(bytes=after).join(before_launches, on="launch").sort("launch")
    return (paired["median_s"] / paired["before_s"] / growth).to_list()


def _over_sizes(
    launches: pl.DataFrame, lower: Segment, upper: Segment, growth: float
) -> list[float]:
    """Per launch, the jump from the nearest sizes on both sides, which is robust to one outlier.

    The segments give the shape, the median over sizes a launch's deviation from them. Empty if a
    side has too few sizes for a shape.
    """
    sides = []
    for segment, nearest_last in ((lower, True), (upper, False)):
        sizes = _sizes(launches, segment).sort(descending=nearest_last)
        if sizes.len() < SIZES_MIN:
            return []
        modelled = segment.t0_s + pl.col("bytes") / segment.r_inf_Bps
        chosen = launches.filter(pl.col("bytes").is_in(sizes.head(SIZES_BESIDE).to_list()))
        level = (pl.col("median_s") / modelled).median().alias("level")
        sides.append(chosen.group_by("launch").agg(level))
    expected_s = lower.time_s(lower.to_bytes) * growth
    pairs = sides[0].join(sides[1], on="launch", suffix="_right").sort("launch")
    jump = upper.time_s(upper.from_bytes) / expected_s
    return (pairs["level_right"] / pairs["level"] * jump).to_list()


def _sizes(launches: pl.DataFrame, segment: Segment) -> pl.Series:
    """The sizes of a segment that were measured."""
    inside = pl.col("bytes").is_between(segment.from_bytes, segment.to_bytes)
    return launches.filter(inside)["bytes"].unique()


def _reported_s(launches: pl.DataFrame, size: int) -> float:
    times_s: Sequence[float] = launches.filter(bytes=size)["median_s"].to_list()
    return launch_interval(times_s).median
