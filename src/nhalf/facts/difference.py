"""Thresholds for differences between times, and ratios with their intervals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.rows import Row
from nhalf.statistics.intervals import Interval, launch_intervals, ratio_interval
from nhalf.store.keys import VARIED_POINT

FASTER = 1.03
"""Libraries differ if the interval of their ratio lies beyond this."""

COSTLY = 1.10
"""A switch or a send mode is reported if the interval of its cost lies beyond this."""


LAUNCH = (*VARIED_POINT, "launch")
"""One launch of a point whose axes may differ."""


@dataclass(frozen=True)
class RelativeCost:
    """How many times as long something takes as its standard: the times' ratio with its interval.

    `size_bytes` is the size at which it differs most, or that was compared.
    """

    series: str
    mpi: str
    pattern: str
    size_bytes: int
    ratio: Interval


def each(frame: pl.DataFrame, *by: str) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Every group of rows that are equal in some columns, in order, after its values of these."""
    for values, rows in frame.group_by(by, maintain_order=True):
        yield dict(zip(by, values, strict=True)), rows


def over_standard(
    ways: pl.DataFrame, standard: pl.DataFrame, keys: Sequence[str] = LAUNCH
) -> pl.DataFrame:
    """The rows of `ways` that have a standard with the same keys.

    Adds `standard_s`, its time, and `ratio`, that of their time over it.
    """
    times = standard.select(*keys, standard_s="median_s")
    return ways.join(times, on=keys, nulls_equal=True).with_columns(
        ratio=pl.col("median_s") / pl.col("standard_s")
    )


def beyond(ratios: Sequence[float], threshold: float, *, is_exact: bool = False) -> Interval | None:
    """The interval of ratios over several launches, if all of it lies above the threshold.

    Of exact times one launch is enough.
    """
    if len(ratios) < (1 if is_exact else 2):
        return None
    interval = ratio_interval(ratios)
    return interval if interval.low > threshold else None


def apart(ratios: Sequence[float], threshold: float) -> Interval | None:
    """The interval of ratios over several launches, if all of it is beyond the threshold, either
    way: above it, or below its inverse.
    """
    if len(ratios) < 2:
        return None
    interval = ratio_interval(ratios)
    return interval if interval.low > threshold or interval.high < 1 / threshold else None


def chosen_ratios(
    frame: pl.DataFrame, by: str, choose: Callable[[Mapping[Any, float]], tuple[Any, Any]]
) -> list[float]:
    """Per launch, the ratio of the times of two values of the column `by`.

    `choose` picks both from the median time of each value over all other launches, and returns
    first the one whose time is divided: the extreme of several noisy times would be extreme by
    chance in the launch that picks it. Launches without one of the two are left out.
    """
    launches = frame["launch"].unique().sort()
    ratios = []
    for launch in launches:
        elsewhere = frame.filter(pl.col("launch") != launch) if len(launches) > 1 else frame
        slow, fast = choose(middles(elsewhere, by))
        times_s = dict(frame.filter(launch=launch).select(by, "median_s").iter_rows())
        if fast in times_s and slow in times_s:
            ratios.append(times_s[slow] / times_s[fast])
    return ratios


def middles(frame: pl.DataFrame, by: str) -> dict[Any, float]:
    """The median time over launches of each value of the column `by`, the fastest first."""
    times = frame.group_by(by).agg(pl.col("median_s").median()).sort("median_s", by)
    return dict(times.iter_rows())


def with_intervals(ratios: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One row per group `by`, in order of appearance, from one `ratio` per launch.

    Columns `by`, `ratio`, `low`, `high` (for one launch both are the ratio) and `launches`.
    """
    groups = ratios.group_by(by, maintain_order=True).agg("ratio", launches=pl.len())
    rows = np.full((groups.height, max(groups["launches"].to_list(), default=0)), np.nan)
    for row, values in zip(rows, groups["ratio"], strict=True):
        row[: len(values)] = values
    middle, low, high = launch_intervals(rows)
    return groups.with_columns(
        pl.Series("ratio", middle), pl.Series("low", low), pl.Series("high", high)
    )
