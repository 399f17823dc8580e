# SPDX-License-Identifier: Apache-2.0
"""Thresholds for differences between times, and ratios with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.statistics.intervals import Interval, launch_intervals, ratio_interval

FASTER = 1.03
"""Libraries differ if the interval of their ratio lies beyond this."""

COSTLY = 1.10
"""A switch or a send mode is reported if the interval of its cost lies beyond this."""


def beyond(ratios: Sequence[float], threshold: float) -> Interval | None:
    """The interval of ratios over several launches, if all of it lies above the threshold."""
    if len(ratios) < 2:
        return None
    interval = ratio_interval(ratios)
    return interval if interval.low > threshold else None


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
