"""Estimates of the ratio of two sides: of the level, of each size, and of the fastest samples."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import GUARD, LOG_LARGEST, Interval, launch_interval
from nhalf.statistics.moderation import moderate
from nhalf.statistics.next_run import BETWEEN_RUNS
from nhalf.statistics.paired import ROUNDING
from nhalf.statistics.winsorised import LaunchSpread, robust_spread

SAMPLES_FEW = 10
"""With fewer samples in a launch, its median can be that of disturbed ones."""
DISTURBED_SPREAD = 1.5
"""Where the median is more than this many times the fastest sample, most samples were disturbed."""
LOG_FASTEST_APART = math.log(1.1)
"""The fastest of a handful of samples differ by so much by chance."""


def fastest_ratio(rows: pl.DataFrame, centre_ratio: Floats) -> Floats:
    """Logarithms of the ratios of the fastest samples (sizes,), NaN if medians can be trusted.

    A process that takes the core moves the median of a handful of samples, or of most samples of a
    busy hour, in all launches alike; it hardly moves the fastest sample of all of them. A change
    that this one does not show is unclear. Where it is apart from `centre_ratio` by more than its
    chance, LOG_FASTEST_APART, the end of this chance that is nearer to 0 counts.
    """
    sides = ("a", "b")
    sizes = rows.group_by("bytes").agg(
        ratio=(pl.col("b_fastest_s").min() / pl.col("a_fastest_s").min()).log(),
        samples=pl.min_horizontal(pl.col(f"{side}_samples").median() for side in sides),
        spread=pl.max_horizontal(
            (pl.col(f"{side}_s") / pl.col(f"{side}_fastest_s")).median() for side in sides
        ),
    )
    doubtful = (pl.col("samples") < SAMPLES_FEW) | (pl.col("spread") > DISTURBED_SPREAD)
    ratio = pl.when(doubtful & pl.col("ratio").is_finite()).then("ratio")
    ratios = sizes.sort("bytes").select(ratio)["ratio"].fill_null(math.nan).to_numpy()
    ratios = np.where(np.abs(ratios - centre_ratio) > LOG_FASTEST_APART, ratios, math.nan)
    nearest: Floats = np.sign(ratios) * np.maximum(np.abs(ratios) - LOG_FASTEST_APART, 0.0)
    return nearest


@dataclass(frozen=True)
class RunShare:
    """The share of the variance of launches by which runs differ beyond their launches.

    `degrees` are those of its estimate, infinite where it is known.
    """

    share: float
    degrees: float = math.inf


NO_SHARE = RunShare(0.0)
"""The share of sides that took turns: none."""
AVERAGE_SHARE = RunShare(BETWEEN_RUNS)
"""The share of two runs of which nothing else is known."""


CONFIDENCE = 0.99
LAUNCHES_MOST = 200
"""More are no remedy that anybody would wait for."""

Ends = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Estimates:
    """Logarithms of the ratio, the level in place 0 and then each size: all are (1 + sizes,).

    `centre_ratio` is reported; `mean_ratio` has the standard error `error`, NaN with too few
    launches. The level and all sizes together share the probability of an error equally.
    Intervals contain `fastest_ratio`, too, unless it is NaN.
    """

    centre_ratio: Floats
    mean_ratio: Floats
    error: Floats
    degrees: Floats
    fastest_ratio: Floats

    def ends(self, error_low: float, error_high: float) -> Ends:
        """Centre, low and high; all low ends hold jointly but for `error_low`, as do high ends."""
        shares = self._shares()
        low = self.mean_ratio - _quantile(self.degrees, 1 - error_low * shares) * self.error
        high = self.mean_ratio + _quantile(self.degrees, 1 - error_high * shares) * self.error
        fastest = np.where(np.isnan(self.fastest_ratio), self.centre_ratio, self.fastest_ratio)
        return (
            self.centre_ratio,
            np.minimum(np.minimum(low, self.centre_ratio), fastest),
            np.maximum(np.maximum(high, self.centre_ratio), fastest),
        )

    def errors_above(self, log_least: float) -> Floats:
        """The smallest `error_low` at which each low end is above 0.

        It is 1 if none is small enough, or if the reported change is not above `log_least`. The
        minimum of all is a probability for the curve: of equal sides a share x have at most x.
        """
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = (self.mean_ratio - ROUNDING) / self.error
        tail = stdtr(np.maximum(self.degrees, ROUNDING), -statistic)
        counts = (self.centre_ratio > log_least + ROUNDING) & (self.mean_ratio > ROUNDING)
        counts &= np.isfinite(self.error) & (self.degrees > 0)
        counts &= ~(self.fastest_ratio <= ROUNDING)
        return np.where(counts, np.minimum(tail / self._shares(), 1.0), 1.0)

    def error_within(self, log_most: float) -> float:
        """The smallest `error_high` at which the high end of the level is below `log_most`."""
        return float(self.reversed(log_most).errors_above(0.0)[0])

    def reversed(self, log_at: float = 0.0) -> Estimates:
        """The estimates of the inverse ratio, times one with the logarithm `log_at`."""
        ratios = (log_at - self.centre_ratio, log_at - self.mean_ratio, self.error, self.degrees)
        return Estimates(*ratios, log_at - self.fastest_ratio)

    def _shares(self) -> Floats:
        """Half of the probability is the level's, half that of all sizes (Bonferroni)."""
        sizes = len(self.mean_ratio) - 1
        if not sizes:
            return np.ones(1)
        return np.concatenate(([0.5], np.full(sizes, 0.5 / max(sizes, 1))))


@dataclass(frozen=True)
class _Side:
    """One side: levels of launches and their spread; of sizes the spread of what deviates from
    the level, and the launches.
    """

    level: Floats
    of_level: LaunchSpread
    of_sizes: LaunchSpread
    counts: NDArray[np.int64]

    @property
    def mean_level(self) -> float:
        """The mean of the levels without launches that went wrong."""
        return float(self.of_level.mean_level[0])


@dataclass(frozen=True)
class LaunchLogs:
    """Logarithms of a curve's launches: of one side, paired ratios, or of two sides, B and A.

    `centre_ratio` (sizes,) are logarithms of the reported ratios. Fewer launches than
    `launches_min` have no error. `fastest_ratio` (sizes,) are those of the fastest samples, NaN
    where medians can be trusted without them.
    """

    sides: Sequence[_Side]
    centre_ratio: Floats
    launches_min: int = 2
    fastest_ratio: Floats | None = None

    @property
    def level_difference(self) -> float:
        """The logarithm of the ratio of the levels' means."""
        return float(_difference([side.mean_level for side in self.sides]))

    @property
    def launch_variances(self) -> list[float]:
        """The variance of a launch's level on each side, NaN for one launch."""
        return [float(side.of_level.variance[0]) for side in self.sides]

    @property
    def mean_variance(self) -> float:
        """The variance of `level_difference` if runs differ by their launches alone."""
        variances = zip(self.launch_variances, self.sides, strict=True)
        return sum(variance / len(side.level) for variance, side in variances)

    def estimates(self, between_runs: RunShare = NO_SHARE) -> Estimates:
        """Levels and sizes with their errors; degrees are joined by Satterthwaite's formula.

        Sides that took turns have no share between runs.
        """
        sides = self.sides
        launches = [len(side.level) for side in sides]
        level_variance, level_degrees = self._level_variance(launches, between_runs)
        counts = np.array([side.counts for side in sides])
        side_degrees = np.array([side.of_sizes.degrees for side in sides])
        degrees = side_degrees.sum(axis=0)
        known_variance = 0.0 if math.isnan(level_variance) else level_variance
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.nansum([side.of_sizes.variance for side in sides] * side_degrees, axis=0)
            variance, own_degrees = moderate(squares / degrees, degrees)
            own = variance * (1 / counts + between_runs.share).sum(axis=0)
            total = own + known_variance
            shares = np.nan_to_num(own**2 / own_degrees) + known_variance**2 / max(level_degrees, 1)
            size_degrees = np.where(total > 0, total**2 / shares, level_degrees)
            errors = np.sqrt(np.concatenate(([level_variance], total)))
        medians = [float(np.median(side.level)) for side in sides]
        means = [side.of_sizes.mean_level + side.mean_level for side in sides]
        few = np.concatenate(([min(launches)], counts.min(axis=0))) < self.launches_min
        return Estimates(
            np.concatenate(([_difference(medians)], self.centre_ratio)),
            np.concatenate(([self.level_difference], _difference(means))),
            np.where(few, math.nan, errors),
            np.concatenate(([level_degrees], size_degrees)),
            self._fastest_ratio(),
        )

    def launches_deciding(self, between_runs: RunShare, error: float, reach: float) -> int:
        """Launches of the later side, more than it has, with which the interval of the level
        reaches no further than `reach` to one side of its mean; 0 if LAUNCHES_MOST are too few.
        """
        later, *earlier = (len(side.level) for side in self.sides)

        def is_enough(number: int) -> bool:
            variance, degrees = self._level_variance([number, *earlier], between_runs)
            quantile = _quantile(np.array([degrees]), np.array([1 - error / 2]))[0]
            return bool(quantile * math.sqrt(variance) <= reach)

        numbers = range(later + 1, LAUNCHES_MOST + 1)
        place = bisect_left(numbers, True, key=is_enough)
        return numbers[place] if place < len(numbers) else 0

    def _level_variance(
        self, launches: Sequence[int], between_runs: RunShare
    ) -> tuple[float, float]:
        """Variance of `level_difference` for these numbers of launches, and its degrees."""
        parts = [
            variance * (1 / n + between_runs.share)
            for variance, n in zip(self.launch_variances, launches, strict=True)
        ]
        total = sum(parts)
        # As large a share of the launches stays as does of those that there are.
        degrees = (
            float(side.of_level.degrees[0]) * (n - 1) / max(len(side.level) - 1, 1)
            for side, n in zip(self.sides, launches, strict=True)
        )
        weights = sum(part**2 / max(own, 1) for part, own in zip(parts, degrees, strict=True))
        weights += (between_runs.share * sum(self.launch_variances)) ** 2 / between_runs.degrees
        return total, total**2 / weights if weights > 0 else sum(launches) - len(launches)

    @property
    def is_disturbed(self) -> bool:
        """Whether medians of most sizes cannot be trusted without the fastest samples."""
        sizes = self.fastest_ratio
        return sizes is not None and bool(np.isfinite(sizes).mean() > 0.5)

    def _fastest_ratio(self) -> Floats:
        """Give the level one if most sizes have one: (1 + sizes,)."""
        sizes = self.fastest_ratio
        if sizes is None:
            return np.full(1 + len(self.centre_ratio), math.nan)
        level = float(np.nanmedian(sizes)) if self.is_disturbed else math.nan
        return np.concatenate(([level], sizes))


def paired_logs(logs: Floats, launches_min: int = 2) -> LaunchLogs:
    """Launches of `logs` (launches, sizes), logarithms of ratios, NaN if a launch lacks a size."""
    side = _side(logs, np.asarray(~np.isnan(logs).any(axis=0)))
    return LaunchLogs([side], np.nanmedian(logs, axis=0), launches_min)


def logs_apart(a: Floats, b: Floats, centre_ratio: Floats, launches_min: int) -> LaunchLogs:
    """Launches of sides that did not take turns: logarithms of times (launches, sizes)."""
    reference = (np.nanmedian(a, axis=0) + np.nanmedian(b, axis=0)) / 2
    complete = np.asarray(~np.isnan(np.concatenate([a, b])).any(axis=0))
    sides = [_side(b - reference, complete), _side(a - reference, complete)]
    return LaunchLogs(sides, centre_ratio, launches_min)


def _side(logs: Floats, complete: NDArray[np.bool_]) -> _Side:
    """Levels over the complete sizes, and what deviates from them; levels are NaN without any."""
    level = interquartile_mean(logs[:, complete]) if complete.any() else np.zeros(len(logs))
    of_level, of_sizes = robust_spread(level[None, :]), robust_spread((logs - level[:, None]).T)
    if not complete.any():
        level = np.full(len(logs), math.nan)
        of_level = of_level._replace(variance=np.array([math.nan]))
    return _Side(level, of_level, of_sizes, (~np.isnan(logs)).sum(axis=0))


def _difference(values: Sequence[Any]) -> Any:
    """The first value, minus the second one if there is one."""
    return values[0] - values[1] if len(values) > 1 else values[0]


def ratio_intervals(
    logs: Floats, confidence: float = CONFIDENCE
) -> tuple[tuple[float, float, float], Ends]:
    """Centre, low and high of the level, and (sizes,) of each size; all are logarithms.

    `logs` (launches, sizes) are logarithms of ratios, NaN if a launch lacks a size. Intervals
    are NaN for fewer than two launches. A width of zero is correct without noise.
    """
    error = 1 - confidence
    centre, low, high = paired_logs(logs).estimates().ends(error, error)
    return (float(centre[0]), float(low[0]), float(high[0])), (centre[1:], low[1:], high[1:])


def interval_apart(dividends: Sequence[float], divisors: Sequence[float]) -> Interval:
    """The ratio of two numbers, with 95 %, from launches that are no pairs, two or more of each.

    Launches of either side may have met what lasts longer than a launch, as runs do.
    """
    centre = launch_interval(dividends).median / launch_interval(divisors).median
    a, b = (np.log([numbers]).T for numbers in (divisors, dividends))
    logs = logs_apart(a, b, np.log([centre]), launches_min=2)
    error = 0.05 * GUARD
    _, low, high = (ends[0] for ends in logs.estimates(AVERAGE_SHARE).ends(error, error))
    low, high = (math.exp(min(max(float(end), -LOG_LARGEST), LOG_LARGEST)) for end in (low, high))
    return Interval(centre, min(low, centre), max(high, centre))


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
