# SPDX-License-Identifier: Apache-2.0
"""Intervals of the ratio of two sides over sizes: of the level, and of each size."""

from __future__ import annotations

import math

import numpy as np

from nhalf.statistics.intervals import Floats
from nhalf.statistics.moderation import moderate

CONFIDENCE = 0.99


def ratio_intervals(
    logs: Floats, confidence: float = CONFIDENCE
) -> tuple[tuple[float, float, float], tuple[Floats, Floats, Floats]]:
    """Centre, low and high of the level, and (sizes,) of each size; all are logarithms.

    `logs` (launches, sizes) are logarithms of ratios, NaN if a launch lacks a size. Intervals
    are NaN for fewer than two launches. A width of zero is correct without noise.
    """
    complete = ~np.isnan(logs).any(axis=0)
    level = interquartile_mean(logs[:, complete]) if complete.any() else np.zeros(len(logs))
    launches = len(level)
    level_variance = float(np.var(level, ddof=1)) / launches if launches > 1 else math.nan
    reach = _quantile(np.array(launches - 1.0), (1 + confidence) / 2) * math.sqrt(level_variance)
    centre = float(np.median(level))
    curve = _hull(centre, float(level.mean()), float(reach))
    if not complete.any():
        curve = (math.nan, math.nan, math.nan)
        level_variance = 0.0
    return curve, _size_intervals(logs, level, level_variance, confidence)


def _size_intervals(
    logs: Floats, level: Floats, level_variance: float, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Centre, low and high (sizes,): level and deviations from it, combined."""
    deviations = logs - level[:, None]
    count = (~np.isnan(logs)).sum(axis=0).astype(np.float64)
    mean = np.nanmean(deviations, axis=0) + level.mean()
    squares = np.nansum((deviations - np.nanmean(deviations, axis=0)) ** 2, axis=0)
    degrees = count - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        variance, freedom = moderate(squares / degrees, degrees)
        own = variance / count
        total = own + level_variance
        parts = np.nan_to_num(own**2 / freedom) + level_variance**2 / max(len(level) - 1, 1)
        joined_degrees = np.where(total > 0, total**2 / parts, len(level) - 1.0)
        probability = 1 - (1 - confidence) / 2 / logs.shape[1]
        reach = _quantile(joined_degrees, probability) * np.sqrt(total)
    centre = np.nanmedian(logs, axis=0)
    low, high = np.minimum(mean - reach, centre), np.maximum(mean + reach, centre)
    few = count < 2
    return centre, np.where(few, np.nan, low), np.where(few, np.nan, high)


def interquartile_mean(values: Floats) -> Floats:
    """The mean of the middle half of the values, over the last axis.

    As a level over sizes it is robust, and nearly as precise as the mean.
    """
    count = values.shape[-1]
    quarter = count // 4
    mean: Floats = np.sort(values, axis=-1)[..., quarter : count - quarter].mean(axis=-1)
    return mean


def _quantile(degrees: Floats, probability: float) -> Floats:
    from scipy.special import stdtrit

    quantile: Floats = np.where(
        degrees > 0, stdtrit(np.maximum(degrees, 1e-9), probability), np.nan
    )
    return quantile


def _hull(centre: float, mean: float, reach: float) -> tuple[float, float, float]:
    """An interval around the mean, extended to contain the reported centre."""
    if math.isnan(reach):
        return centre, math.nan, math.nan
    return centre, min(mean - reach, centre), max(mean + reach, centre)
