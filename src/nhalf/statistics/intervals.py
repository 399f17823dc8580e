"""Intervals over launches: how far a reported value can be from the true one.

The unit of replication is the launch. Samples of one launch share its placement, its pages and
its clock speed, so they say little about the next launch; each launch gives one number, the median
of its samples, and the interval is taken over those numbers (Hunold and Carpen-Amarie,
Reproducible MPI benchmarking is still not as easy as you think, IEEE TPDS 2016).

The reported value is the pseudomedian of the launch medians: the median of the means of all pairs
of them, on logarithms (J. Hodges, E. Lehmann, Estimates of Location Based on Rank Tests, Annals of
Mathematical Statistics 34 (1963) 598). One launch among five that went wrong hardly moves it, as
with the median; but it uses all launches, so that results are more repeatable, above all on
machines that change between two states, where the median of five jumps from one to the other.

The interval is Student's for the mean of the logarithms of the launch medians, from ten launches on
with the variance that launches which went wrong leave (winsorised.py), extended if necessary to
contain the reported value. Logarithms, because times are positive, skewed to the right
and compared by ratios. Simulated alternatives (order statistics with interpolation, intervals
centred at the median) either need more launches or are wider at the same coverage.

If launches are skewed, their median, pseudomedian and mean differ. That does not matter with the
few launches of a typical run; from about twenty on, the interval is that of the pseudomedian, not
of the median (exponential launches with 5 %: it contains the median in 97 % of runs of 5 launches,
in 94 % of 20, in 62 % of 50; the pseudomedian in 94 to 98 %).

Quantiles of Student's distribution are usually summed here: showing a run need not load SciPy,
which would take a fifth of that time.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.errors import InputError
from nhalf.statistics.winsorised import winsorised

NORMAL_95 = 1.959963984540054


DEGREES_SUMMED = 30
"""Up to this many degrees of freedom the distribution is summed, which takes microseconds."""


@functools.cache
def student_quantile(degrees: int, probability: float) -> float:
    """Student's two-sided quantile: |t| stays below it with the given probability."""
    if 1 <= degrees <= DEGREES_SUMMED:
        return _summed_quantile(degrees, probability)
    if probability == 0.95 and degrees > DEGREES_SUMMED:
        z = NORMAL_95
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / degrees + second / degrees**2
    # scipy.special alone loads in a tenth of the time of scipy.stats.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + probability) / 2))


def _summed_quantile(degrees: int, probability: float) -> float:
    """The quantile by bisection of the angle whose tangent is |t| over the root of `degrees`."""
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        is_below = _within(degrees, middle) < probability
        low, high = (middle, high) if is_below else (low, middle)
    return math.sqrt(degrees) * math.tan(high)


def _within(degrees: int, angle: float) -> float:
    """The probability that |t| has a smaller angle, by its finite sum (M. Abramowitz, I. Stegun,
    Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
    """
    is_odd = degrees % 2
    term, total = math.sin(angle) * (math.cos(angle) if is_odd else 1.0), 0.0
    for step in range(2 + is_odd, degrees + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (step - 1) / step
    return 2 / math.pi * (angle + total) if is_odd else total


Floats = NDArray[np.float64]

GUARD = 0.4
"""Share of the error probability used by Student's quantile: a 95 % interval is computed at
98 %. The rest covers what Student's theory ignores: skewed launches, launches in two states, and
readers who compare the interval with the next run instead of with the truth."""

PAIRS_LAUNCHES_MAX = 1000
"""Above this unrealistic number of launches there are too many pairs: the median is used."""

PAIRS_AT_ONCE = 2**20
"""Pairs in memory at once, 8 bytes each and some copies."""

LOG_LARGEST = math.log(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Interval:
    """A reported value and the interval around it, all in the unit of the data."""

    median: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The larger distance from the median to an end, relative to the median (0 at 0)."""
        reach = max(self.high - self.median, self.median - self.low)
        if reach == 0:
            return 0.0
        return reach / abs(self.median) if self.median else math.inf

    def covers(self, value: float) -> bool:
        """Whether a value lies in the interval, ends included."""
        return self.low <= value <= self.high


def launch_interval(medians: Sequence[float] | Floats, confidence: float = 0.95) -> Interval:
    """The pseudomedian of launch medians and its interval over launches.

    `medians` are one positive number per launch. Equal numbers give an interval of width zero,
    which is correct on a machine without noise. One launch also gives an interval of width zero,
    because it says nothing about the spread: use `sample_interval` and report it (advice
    one-launch). If a launch measured 0, or less after the clock overhead was subtracted, there is
    no logarithm, and the interval is the range.

    Raises InputError if there is no number, or one is infinite or NaN.
    """
    row = np.asarray(medians, dtype=np.float64).reshape(1, -1)
    if row.size == 0:
        raise InputError("an interval needs at least one launch", "measure at least one launch")
    if np.isnan(row).any():
        raise InputError("a launch median is not a number", "leave out launches without samples")
    median, low, high = launch_intervals(row, confidence)
    return Interval(float(median[0]), float(low[0]), float(high[0]))


def signed_interval(values: Sequence[float] | Floats, confidence: float = 0.95) -> Interval:
    """The pseudomedian of one number per launch that may be negative, and its interval.

    It is meant for differences of launch medians. Unlike `launch_interval` it uses the numbers
    themselves, because they may be 0 and have no logarithm.

    Raises InputError if there is no number, or one is not finite.
    """
    _check_confidence(confidence)
    row = np.asarray(values, dtype=np.float64)
    if row.size == 0 or not np.all(np.isfinite(row)):
        raise InputError("an interval needs finite numbers", "leave out launches without samples")
    location = float(np.median(row))
    if row.size <= PAIRS_LAUNCHES_MAX:
        # Relative to one of them, so that equal numbers give exactly that number.
        centre = np.sort(row)[(row.size - 1) // 2]
        first, second = np.triu_indices(row.size)
        location = float(centre + np.median((row - centre)[first] + (row - centre)[second]) / 2)
    if row.size == 1 or np.ptp(row) == 0:
        return Interval(location, location, location)
    level = 1 - (1 - confidence) * GUARD
    (inner,), (factor,), (degrees,) = winsorised(row[None, :])
    error = math.sqrt(factor * float(inner.var(ddof=1)) / row.size)
    mean, reach = float(inner.mean()), student_quantile(int(degrees), level) * error
    return Interval(location, min(mean - reach, location), max(mean + reach, location))


def launch_intervals(medians: Floats, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Pseudomedian, low and high of every row of `medians` (points, launches), each (points,).

    NaN marks a launch that did not measure a point; a row of NaN gives NaN. Each row is treated
    like the argument of `launch_interval`.
    """
    _check_confidence(confidence)
    present = ~np.isnan(medians)
    if np.any(np.isinf(medians[present])):
        raise InputError("a launch median is infinite", "measure the point again")
    count = present.sum(axis=1)
    filled = np.where(present, medians, np.nan)
    if filled.shape[1] == 0 or not len(filled):
        nothing = np.full(len(filled), np.nan)
        return nothing, nothing.copy(), nothing.copy()
    ordered = np.sort(filled, axis=1)
    rows = np.arange(len(ordered))
    last = np.maximum(count - 1, 0)
    smallest, largest = ordered[:, 0], ordered[rows, last]
    row_median = (ordered[rows, last // 2] + ordered[rows, (last + 1) // 2]) / 2
    median = _pseudomedian(ordered, count, row_median)
    low, high = _log_student(filled, count, confidence)
    bare = (smallest == largest) | (smallest <= 0)
    low = np.where(bare, smallest, np.minimum(low, median))
    high = np.where(bare, largest, np.maximum(high, median))
    return median, low, high


def sample_interval(samples: Sequence[float] | Floats, confidence: float = 0.95) -> Interval:
    """The median of one launch's samples with its order-statistic interval.

    The median lies between these ranks with the given probability for any distribution (binomial;
    Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.6); with too few samples the
    interval is the range. It takes no account of other launches.

    Raises InputError if there is no sample, or one is not finite.
    """
    _check_confidence(confidence)
    values = np.asarray(samples, dtype=np.float64)
    if values.size == 0 or not np.all(np.isfinite(values)):
        raise InputError("an interval needs finite samples", "measure the point again")
    below = _rank_below(values.size, confidence)
    above = values.size - 1 - below
    ordered = np.partition(values, (below, above))
    return Interval(float(np.median(values)), float(ordered[below]), float(ordered[above]))


def ratio_interval(ratios: Sequence[float] | Floats, confidence: float = 0.95) -> Interval:
    """The pseudomedian of paired positive ratios (one per launch) and its interval.

    Raises InputError as `launch_interval` does, and if a ratio is 0.
    """
    if np.any(np.asarray(ratios, dtype=np.float64) == 0):
        raise InputError("a ratio is 0", "the clock is too coarse: use larger batches")
    return launch_interval(ratios, confidence)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence} is not between 0 and 1", "0.95 is usual")


def _pseudomedian(ordered: Floats, count: NDArray[np.int64], row_median: Floats) -> Floats:
    """The pseudomedian of the first `count` values of each increasing row.

    `row_median` is the median of each row. It is kept if the pseudomedian is the same (equal
    values, one value) or undefined (no value, a zero and so no logarithm, more values than
    PAIRS_LAUNCHES_MAX).
    """
    value = row_median.copy()
    largest = ordered[np.arange(len(ordered)), np.maximum(count - 1, 0)]
    differ = (ordered[:, 0] > 0) & (ordered[:, 0] < largest) & (count <= PAIRS_LAUNCHES_MAX)
    for launches in np.unique(count[differ]):
        chosen = np.flatnonzero(differ & (count == launches))
        first, second = np.triu_indices(launches)
        step = max(1, PAIRS_AT_ONCE // first.size)
        for start in range(0, chosen.size, step):
            rows = chosen[start : start + step]
            logs = np.log(ordered[rows, :launches])
            # Relative to the median launch, so that [a, a, a, b] gives a itself, not a rounded one.
            centre = (launches - 1) // 2
            apart = logs - logs[:, centre, None]
            offset = np.median(apart[:, first] + apart[:, second], axis=1, overwrite_input=True) / 2
            exact = ordered[rows, centre]
            value[rows] = np.where(offset == 0, exact, np.exp(logs[:, centre] + offset))
    return value


def _log_student(
    medians: Floats, count: NDArray[np.int64], confidence: float
) -> tuple[Floats, Floats]:
    """Student's interval of the mean logarithm, as times; NaN below two launches."""
    level = 1 - (1 - confidence) * GUARD
    quantiles = np.array(
        [math.nan, math.nan]
        + [student_quantile(n - 1, level) for n in range(2, medians.shape[1] + 1)]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, factor, degrees = winsorised(np.log(medians))
        mean = np.nansum(logs, axis=1) / count
        variance = factor * np.nansum((logs - mean[:, None]) ** 2, axis=1) / (count - 1)
        reach = quantiles[np.maximum(degrees.astype(np.int64), 0) + 1] * np.sqrt(variance / count)
        low, high = mean - reach, mean + reach
    return np.exp(low), np.exp(np.minimum(high, LOG_LARGEST))


@functools.cache
def _rank_below(count: int, confidence: float) -> int:
    """The largest rank, from 0, whose order statistic and its mirror enclose the median.

    P(median below the order statistic of rank r) = P(Binomial(count, 1/2) <= r), summed here
    because importing SciPy takes longer than summarising a run.
    """
    ranks = np.arange(count // 2, 0, -1)
    # Terms below the central one, relative to it: each from the one above.
    below = np.cumprod(np.concatenate(([1.0], ranks / (count - ranks + 1))))[::-1]
    chances = np.cumsum(below)
    whole = 2 * chances[-1] - (0 if count % 2 else 1)
    within = int(np.count_nonzero(chances / whole <= (1 - confidence) / 2))
    return min(max(within - 1, 0), (count - 1) // 2)
