"""Two states in one series: whether times form a low and a high group."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nhalf.statistics.intervals import Floats

LAUNCHES_LEAST = 5
EFFECT = 0.03
"""States and trends below 3 % do not matter: that is the target precision of intervals."""
SAMPLES_LEAST = 12
"""Fewer samples show no shape: a split or a trend of 3 to 5 numbers is chance."""

SPLIT_SHARE = 0.1
"""The smaller of two states holds at least this share, so that outliers are not a state."""


def split_threshold(count: int | NDArray[np.int64]) -> Floats:
    """Share of the variance that a split must explain for `count` numbers to be two states.

    Two groups always explain much: 64 % of a normal distribution, 75 % of a uniform one, more by
    chance in few numbers. The value lies between the shares that normal and exponential noise
    exceed once in 500 times, by simulation.
    """
    number = np.asarray(count, dtype=np.float64)
    few = 1 - (number - 3) ** 2 / 1000
    return np.where(number < SAMPLES_LEAST, few, 0.8 + 2 / np.maximum(number, 1))


def split(values: Floats) -> tuple[Floats, Floats]:
    """The best split of each row into a low and a high group.

    `values` (rows, n) with NaN only at the end of a row. Returns the share of the variance that
    the split explains (Otsu, A threshold selection method from gray-level histograms, 1979) and
    the distance of the groups' means, both (rows,); 0 for rows without spread.
    """
    if values.shape[1] < 2:
        return np.zeros(len(values)), np.zeros(len(values))
    ordered = np.sort(values, axis=1)
    count = (~np.isnan(ordered)).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = np.nan_to_num(ordered - np.nansum(ordered, axis=1, keepdims=True) / count)
        total = (centred**2).sum(axis=1)
        below = np.arange(1, values.shape[1])[None, :]
        above = count - below
        sums = np.cumsum(centred, axis=1)[:, :-1]
        group_size_min = np.maximum(2, np.ceil(SPLIT_SHARE * count))
        allowed = (below >= group_size_min) & (above >= group_size_min)
        between = np.where(allowed, sums**2 / below + sums**2 / above, 0.0)
        best = between.argmax(axis=1)[:, None]
        share = np.take_along_axis(between, best, axis=1)[:, 0] / total
        low = np.take_along_axis(sums, best, axis=1)[:, 0]
        lower = best[:, 0] + 1
        distance = -low / lower - low / (count[:, 0] - lower)
    spread = (total > 1e-18 * np.maximum(count[:, 0], 1)) & (share > 0)
    return np.where(spread, share, 0.0), np.where(spread, distance, 0.0)


def two_states(times: Floats) -> NDArray[np.bool_]:
    """Whether each row of `times` (rows, n; NaN at the end) falls into two states."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(times)
    share, distance = split(np.where(np.isfinite(logs), logs, np.nan))
    count = (~np.isnan(logs)).sum(axis=1)
    states: NDArray[np.bool_] = (
        (share > split_threshold(count))
        & (distance > math.log1p(EFFECT))
        & (count >= LAUNCHES_LEAST)
    )
    return states
