# SPDX-License-Identifier: Apache-2.0
"""Estimates of the ratio of two sides over sizes: of the level, and of each size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nhalf.statistics.intervals import Floats
from nhalf.statistics.moderation import moderate

CONFIDENCE = 0.99
ROUNDING = 1e-9
"""Relative rounding error: a machine without noise is as fast as itself."""

Ends = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Estimates:
    """Logarithms of the ratio, the level in place 0 and then each size: all are (1 + sizes,).

    `centre_ratio` is reported; `mean_ratio` has the standard error `error`, NaN with too few
    launches. The level and all sizes together share the probability of an error equally.
    """

    centre_ratio: Floats
    mean_ratio: Floats
    error: Floats
    degrees: Floats

    def ends(self, error_low: float, error_high: float) -> Ends:
        """Centre, low and high; all low ends hold jointly but for `error_low`, as do high ends."""
        shares = self._shares()
        low = self.mean_ratio - _quantile(self.degrees, 1 - error_low * shares) * self.error
        high = self.mean_ratio + _quantile(self.degrees, 1 - error_high * shares) * self.error
        return (
            self.centre_ratio,
            np.minimum(low, self.centre_ratio),
            np.maximum(high, self.centre_ratio),
        )

    def errors_above(self, log_threshold: float) -> Floats:
        """The smallest `error_low` at which each low end lies above a threshold; 1 if at none.

        Their minimum is a probability for the whole curve: on equal machines it is at most x in a
        share x of all comparisons.
        """
        from scipy.special import stdtr

        log_threshold += ROUNDING
        distance = np.minimum(self.mean_ratio, self.centre_ratio) - log_threshold
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = (self.mean_ratio - log_threshold) / self.error
        tail = stdtr(np.maximum(self.degrees, ROUNDING), -statistic)
        counts = (distance > 0) & np.isfinite(self.error) & (self.degrees > 0)
        return np.where(counts, np.minimum(tail / self._shares(), 1.0), 1.0)

    def reversed(self) -> Estimates:
        """The estimates of the inverse ratio."""
        return Estimates(-self.centre_ratio, -self.mean_ratio, self.error, self.degrees)

    def _shares(self) -> Floats:
        """Half of the probability is the level's, half that of all sizes (Bonferroni)."""
        sizes = len(self.mean_ratio) - 1
        return np.concatenate(([0.5], np.full(sizes, 0.5 / max(sizes, 1))))


def estimates(logs: Floats, between_runs: float = 0.0, launches_min: int = 2) -> Estimates:
    """Estimates from `logs` (launches, sizes), NaN if a launch lacks a size.

    `between_runs` is the share of the variance of launches that a run does not average out: 0 for
    sides that took turns. Fewer launches than `launches_min` have no error.
    """
    complete = ~np.isnan(logs).any(axis=0)
    level = interquartile_mean(logs[:, complete]) if complete.any() else np.zeros(len(logs))
    launches = len(level)
    level_variance = (
        float(np.var(level, ddof=1)) * (1 / launches + between_runs) if launches > 1 else math.nan
    )
    mean, variance, degrees, count = _sizes(logs, level, level_variance, between_runs)
    if not complete.any():
        level = np.full(launches, math.nan)
        mean, variance, degrees, _ = _sizes(logs, np.zeros(launches), 0.0, between_runs)
    few = np.concatenate(([launches], count)) < launches_min
    with np.errstate(invalid="ignore"):
        error = np.sqrt(np.concatenate(([level_variance], variance)))
    return Estimates(
        np.concatenate(([float(np.median(level))], np.nanmedian(logs, axis=0))),
        np.concatenate(([float(level.mean())], mean)),
        np.where(few, math.nan, error),
        np.concatenate(([launches - 1.0], degrees)),
    )


def ratio_intervals(
    logs: Floats, confidence: float = CONFIDENCE
) -> tuple[tuple[float, float, float], Ends]:
    """Centre, low and high of the level, and (sizes,) of each size; all are logarithms.

    `logs` (launches, sizes) are logarithms of ratios, NaN if a launch lacks a size. Intervals
    are NaN for fewer than two launches. A width of zero is correct without noise.
    """
    error = 1 - confidence
    centre, low, high = estimates(logs).ends(error, error)
    return (float(centre[0]), float(low[0]), float(high[0])), (centre[1:], low[1:], high[1:])


def _sizes(
    logs: Floats, level: Floats, level_variance: float, between_runs: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean, its variance, degrees of freedom and launches, each (sizes,)."""
    deviations = logs - level[:, None]
    count = (~np.isnan(logs)).sum(axis=0).astype(np.float64)
    mean = np.nanmean(deviations, axis=0) + level.mean()
    squares = np.nansum((deviations - np.nanmean(deviations, axis=0)) ** 2, axis=0)
    degrees = count - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        variance, own_degrees = moderate(squares / degrees, degrees)
        own = variance * (1 / count + between_runs)
        total = own + level_variance
        parts = np.nan_to_num(own**2 / own_degrees) + level_variance**2 / max(len(level) - 1, 1)
        joined_degrees = np.where(total > 0, total**2 / parts, len(level) - 1.0)
    return mean, total, joined_degrees, count


def interquartile_mean(values: Floats) -> Floats:
    """The mean of the middle half of the values, over the last axis.

    As a level over sizes it is robust, and nearly as precise as the mean.
    """
    count = values.shape[-1]
    quarter = count // 4
    mean: Floats = np.sort(values, axis=-1)[..., quarter : count - quarter].mean(axis=-1)
    return mean


def _quantile(degrees: Floats, probability: Floats) -> Floats:
    from scipy.special import stdtrit

    quantile: Floats = np.where(
        degrees > 0, stdtrit(np.maximum(degrees, 1e-9), probability), np.nan
    )
    return quantile
