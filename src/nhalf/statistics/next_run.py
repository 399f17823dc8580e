"""The interval of the value that the next run will report, in the same state of the machine.

A launch k measures the logarithm of the time of a point p as

    log t(k, p) = mean(p) + run(p) + launch(k) + own(k, p)

with one disturbance of the whole launch and one of each point. The next run has different ones and
reports the pseudomedian of as many launches n, so that the difference of both has the variance

    2 (V + v(p)) (1 / (e n) + BETWEEN_RUNS)

where V is the variance of launches, with one degree of freedom fewer than launches, v(p) that of
the point's disturbance, moderated over the points of a curve (moderation.py), and e the efficiency
of the pseudomedian. Degrees of freedom are combined by Satterthwaite's formula (Biometrics Bulletin
2, 1946, 110), and the interval is Student's. The contribution of run(p) cannot be observed in one
run: disturbances of machines last from milliseconds to hours, and launches seconds apart share the
long ones. BETWEEN_RUNS is the share of the variance of launches that a run does not average out. If
half of a disturbance is white and half of it has the spectrum 1/f, whose means over any time have
equal variance, it is 0.25 for five launches and for twenty.

Where launches are equal at some points and differ at others, a clock or a printed log rounds them.
What rounding to a step adds is the variance step^2 / 12 (W. Sheppard, Proceedings of the London
Mathematical Society 29, 1898), and nothing is known better than to one step.

Where the time of one further launch lies, by those of some launches.

Student's prediction interval of one further observation (G. Hahn, W. Meeker, Statistical Intervals,
Wiley 1991, 4.7), on the logarithms of n times x with mean m and standard deviation s:

    m +- t(n - 1, 0.95) s sqrt(1 + 1/n)

extended to the times themselves. The range of n launches alone holds (n - 1) / (n + 1) of further
ones: half of them for three. Of launches that are skewed, as others' work makes them, intervals of
Student hold fewer than they say: this one 88 % to 93 % where it says 95 %,
and 82 % (two launches) to 87 % (three) of launches in two states.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import LOG_LARGEST, launch_intervals, student_quantile
from nhalf.statistics.moderation import QUANTITIES_MIN, moderate
from nhalf.statistics.winsorised import EFFICIENCY, winsorised
from nhalf.store.keys import RUN_POINT, without

CURVE = without(RUN_POINT, "axes", "bytes")
"""The columns of points whose variances are moderated together."""

BETWEEN_RUNS = 0.3
"""Chosen from repeated runs on a busy shared machine; tools/benchmarks/coverage.py tests it."""

ROUNDING = 1e-9
"""Smaller widths count as zero, as on machines without noise."""

DIFFERING_LEAST = 0.1
"""If a smaller share of a curve's points differs between launches, equal times are exact, not
rounded."""


def next_run_intervals(
    medians: Floats, curves: NDArray[np.int64], confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Reported value, low and high of every row of `medians` (points, launches), each (points,).

    `curves` (points,) numbers the curve of each point. NaN marks a launch that did not measure a
    point. Equal launches give an interval of width zero, and so does a single launch; if a launch
    measured 0, the interval is the range. Raises InputError for invalid times.
    """
    value, low, high = launch_intervals(medians, confidence)
    count = (~np.isnan(medians)).sum(axis=1)
    usable = (count > 1) & (np.nan_to_num(medians, nan=1.0) > 0).all(axis=1)
    ordered = np.flatnonzero(usable)
    ordered = ordered[np.argsort(curves[ordered], kind="stable")]
    by_curve = np.split(ordered, np.flatnonzero(np.diff(curves[ordered])) + 1)
    for rows in by_curve if len(ordered) else ():
        variance, degrees = _variances(np.log(medians[rows]))
        step = _steps(medians[rows]) / value[rows]
        variance = variance + step**2 / 12
        difference_variance = 2 * variance * (1 / (EFFICIENCY * count[rows]) + BETWEEN_RUNS)
        quantile = [student_quantile(max(1, int(df)), confidence) for df in degrees]
        reach = np.maximum(np.array(quantile) * np.sqrt(difference_variance), step)
        reach[reach < ROUNDING] = 0.0
        low[rows] = value[rows] * np.exp(-reach)
        high[rows] = value[rows] * np.exp(np.minimum(reach, LOG_LARGEST / 2))
    return value, low, high


def matrix_of(points: pl.DataFrame) -> tuple[Floats, NDArray[np.int64]]:
    """Launch medians of points (points, launches), NaN if missing, and their curves.

    Each row of `points` has a list of `medians` and one of their launches' `numbers`, both as long
    as `launches` says.
    """
    length = points["launches"].to_numpy().astype(np.int64)
    flat = points.select(
        pl.col(name).list.explode(keep_nulls=False, empty_as_null=False)
        for name in ("medians", "numbers")
    )
    column = flat["numbers"].rank("dense").to_numpy().astype(np.int64) - 1
    matrix = np.full((len(length), int(column.max()) + 1), np.nan)
    matrix[np.repeat(np.arange(len(length)), length), column] = flat["medians"].to_numpy()
    curves = points.select(curve=pl.struct(CURVE).rank("dense"))["curve"]
    return matrix, curves.to_numpy().astype(np.int64)


def point_intervals(launches: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """One row per point (RUN_POINT) of launch medians, with the first of some `columns`.

    `value_s`, `low_s` and `high_s` are those of `next_run_intervals`, `launches` their number.
    """
    points = launches.group_by(RUN_POINT, maintain_order=True).agg(
        pl.col(columns).first(),
        pl.col("median_s").alias("medians"),
        pl.col("launch").alias("numbers"),
        launches=pl.len(),
    )
    intervals = zip(
        ("value_s", "low_s", "high_s"), next_run_intervals(*matrix_of(points)), strict=True
    )
    return points.drop("medians", "numbers").with_columns(
        pl.Series(name, ends) for name, ends in intervals
    )


def half_widths(launches: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """One row per point of launch medians: some `columns` and its relative `half_width`.

    It is infinite with only one launch.
    """
    width = pl.when(pl.col("launches") > 1).then(pl.col("high_s") / pl.col("value_s") - 1)
    return point_intervals(launches, *columns).select(
        *columns, half_width=width.otherwise(math.inf)
    )


def _steps(medians: Floats) -> Floats:
    """The step to which the launches (points, launches) of a curve's points are rounded: (points,).

    0 if no two launches of a point are equal, or if too few points differ to show a step.
    """
    apart = np.diff(np.sort(medians, axis=1), axis=1)
    tied = (apart == 0).any(axis=1)
    step = np.min(np.where(apart > 0, apart, math.inf), axis=1, initial=math.inf)
    least = float(step.min(initial=math.inf))
    if np.mean(np.isfinite(step)) < DIFFERING_LEAST:
        return np.zeros(len(medians))
    return np.where(tied, np.where(np.isfinite(step), step, least), 0.0)


def _variances(logs: Floats) -> tuple[Floats, Floats]:
    """Variance of a launch at each point of a curve, and its degrees of freedom, each (points,)."""
    count = (~np.isnan(logs)).sum(axis=1)
    points = len(logs)
    if points < QUANTITIES_MIN:
        return _variances_alone(logs)
    apart = logs - np.nanmean(winsorised(logs)[0], axis=1, keepdims=True)
    apart = apart[:, ~np.isnan(apart).all(axis=0)]
    level = np.nanmedian(apart, axis=0)
    own_variance, own_degrees = _variances_alone(apart - level)
    # The level was estimated from all points, which costs each a fraction of a degree of freedom.
    own_share = 1 - 1 / points
    own_variance, own_degrees = moderate(own_variance / own_share, own_degrees * own_share)
    (common,), (common_degrees,) = _variances_alone(level[None, :])
    total = common + own_variance
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = total**2 / (common**2 / common_degrees + own_variance**2 / own_degrees)
    return total, np.where(total > 0, degrees, count - 1.0)


def _variances_alone(logs: Floats) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom, each (points,), of points that share nothing."""
    inner, factor, degrees = winsorised(logs)
    return factor * np.nanvar(inner, axis=1, ddof=1), degrees


CONFIDENCE = 0.95


def next_launch(times_s: Sequence[float]) -> tuple[float, float]:
    """The low and the high end, seconds; the time itself of one launch, or of equal ones.

    Of times that are no positive numbers it is the range, NaN if one is NaN.
    """
    lowest_s, highest_s = min(times_s), max(times_s)
    if any(math.isnan(time_s) for time_s in times_s):
        return math.nan, math.nan
    if lowest_s <= 0 or highest_s == lowest_s or math.isinf(highest_s):
        return lowest_s, highest_s
    logs = [math.log(time_s) for time_s in times_s]
    count = len(logs)
    middle = fmean(logs)
    reach = student_quantile(count - 1, CONFIDENCE) * stdev(logs) * math.sqrt(1 + 1 / count)
    return (
        min(lowest_s, math.exp(max(middle - reach, -LOG_LARGEST))),
        max(highest_s, math.exp(min(middle + reach, LOG_LARGEST))),
    )
