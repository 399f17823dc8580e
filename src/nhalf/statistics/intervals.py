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

Quantiles of Student's distribution; the usual ones without SciPy, which is slow to load.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.errors import InputError
from nhalf.statistics.winsorised import winsorised

USUAL = {
    0.95: (
        12.706204736174694,
        4.302652729749462,
        3.1824463052837078,
        2.7764451051977934,
        2.5705818356363146,
        2.4469118511449786,
        2.364624251592784,
        2.306004135204166,
        2.262157162798205,
        2.228138851986274,
        2.200985160091639,
        2.1788128296672284,
        2.1603686564627913,
        2.144786687917804,
        2.131449545559776,
        2.1199052992212546,
        2.1098155778333156,
        2.1009220402410382,
        2.0930240544083087,
        2.085963447265864,
        2.0796138447276795,
        2.0738730679040254,
        2.0686576104190486,
        2.0638985616280245,
        2.0595385527532972,
        2.0555294386428735,
        2.0518305164802846,
        2.0484071417952454,
        2.045229642132703,
        2.0422724563012378,
    ),
    0.98: (
        31.820515953773935,
        6.9645567342832715,
        4.540702858568132,
        3.746947387979196,
        3.3649299989072174,
        3.1426684032910064,
        2.9979515668685277,
        2.896459447709622,
        2.821437925025809,
        2.7637694581126957,
        2.7180791838138623,
        2.6809979931209145,
        2.650308837912191,
        2.624494067590051,
        2.6024802950111225,
        2.5834871852759904,
        2.5669339837247174,
        2.5523796301822506,
        2.5394831906239625,
        2.527977002741573,
        2.517648016044742,
        2.5083245528990803,
        2.4998667394946676,
        2.492159473157756,
        2.4851071754107616,
        2.478629823591241,
        2.472659911956006,
        2.467140097967471,
        2.4620213601504126,
        2.457261542400591,
    ),
    0.99: (
        63.656741162871526,
        9.924843200918287,
        5.840909309733355,
        4.604094871349992,
        4.032142983555228,
        3.7074280213248065,
        3.4994832973504924,
        3.355387331333395,
        3.249835541592126,
        3.16927267261695,
        3.1058065155392804,
        3.0545395893929013,
        3.012275838716578,
        2.9768427343708344,
        2.946712883475238,
        2.9207816224251,
        2.8982305196774183,
        2.8784404727386077,
        2.8609346064649794,
        2.8453397097861077,
        2.83135955802305,
        2.8187560606001423,
        2.807335683769999,
        2.796939504774456,
        2.78743581367697,
        2.778714533329683,
        2.770682957122211,
        2.763262455461444,
        2.756385903670605,
        2.7499956535672254,
    ),
}
"""Quantiles by probability (intervals and trends), for 1 to 30 degrees of freedom, as computed by
SciPy: showing a run need not load it, which would take a fifth of that time."""

NORMAL_95 = 1.959963984540054


@functools.cache
def student_quantile(degrees: int, probability: float) -> float:
    """Student's two-sided quantile: |t| stays below it with the given probability."""
    usual = USUAL.get(probability, ())
    if 1 <= degrees <= len(usual):
        return usual[degrees - 1]
    if probability == 0.95 and degrees > len(usual):
        z = NORMAL_95
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / degrees + second / degrees**2
    # scipy.special alone loads in a tenth of the time of scipy.stats.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + probability) / 2))


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
    (kept,), (factor,), (degrees,) = winsorised(row[None, :])
    error = math.sqrt(factor * float(kept.var(ddof=1)) / row.size)
    mean, reach = float(kept.mean()), student_quantile(int(degrees), level) * error
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
