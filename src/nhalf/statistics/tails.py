"""Tails: quantiles of the samples of a point, with intervals over launches.

Every launch weighs the same, however many samples it took. A quantile is that of all samples
together; its interval is Woodruff's (J. Am. Statist. Assoc. 47 (1952) 635): the share of samples
beyond it has an interval, whose ends are quantiles again. Samples of a launch come in bursts, so
that N of them say as much about that share p as fewer independent ones would,

    n = p (1 - p) / (variance of the launches' shares / launches) * (z / t)^2,  N at most

(E. Korn, B. Graubard, Survey Methodology 24 (1998) 193), with the quantiles z of the normal and t
of Student's distribution. With n samples the interval of the share is that of C. Clopper and E.
Pearson (Biometrika 26 (1934) 404). Where fewer than BEYOND_LEAST samples lie beyond a quantile, it
is not known, and NaN; where launches leave its upper end open, that is infinite.

A sample is the mean of a batch: only batches of one round have the tail of single messages.
"""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import Interval, student_quantile
from nhalf.store.keys import MEASUREMENT_COLUMNS, RUN_POINT

QUANTILES = (0.5, 0.95, 0.99, 0.999)
"""The quantiles that are shown if nobody asks for others."""
BEYOND_LEAST = 5
"""With fewer samples beyond it, a quantile is not known."""
NORMAL_DEGREES = 10**6
"""With as many degrees of freedom Student's distribution is the normal one."""
ROUNDING = 1e-9

UNKNOWN = Interval(math.nan, math.nan, math.nan)

QUANTILE_COLUMNS: dict[str, pl.DataType] = {
    **{name: MEASUREMENT_COLUMNS[name] for name in RUN_POINT},
    "q": pl.Float64(),
    "time_s": pl.Float64(),
    "low_s": pl.Float64(),
    "high_s": pl.Float64(),
    "samples": pl.Int64(),
}
"""One row per point and quantile: NaN if it is not known, `high_s` infinite if it is open."""


def samples_needed(q: float) -> int:
    """The samples from which the quantile `q` is known."""
    return math.ceil(BEYOND_LEAST / min(q, 1 - q) - ROUNDING)


def slow_samples(measurements: pl.LazyFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """RUN_POINT, `launch`, `median_s`, `samples_s` and their number `samples` of each visit in the
    reported state, sorted.

    `stated` are the visits of `measurements`, or of more, with their states (summary.py).
    """
    visit = [*RUN_POINT, "launch", "position"]
    counted = stated.filter("counts").select(*visit, "median_s", "samples")
    rows = measurements.with_columns(pl.col(pl.String).fill_null("")).select(*visit, "samples_s")
    return rows.join(counted.lazy(), on=visit).sort(visit).collect()


def quantiles(
    samples: pl.DataFrame, shares: Sequence[float], confidence: float = 0.95
) -> pl.DataFrame:
    """QUANTILE_COLUMNS for every point of `slow_samples`, sorted."""
    rows: list[tuple[object, ...]] = []
    for point, visits in samples.group_by(RUN_POINT, maintain_order=True):
        by_launch = visits.group_by("launch", maintain_order=True)
        launches = [part["samples_s"].explode().to_numpy() for _, part in by_launch]
        count = sum(map(len, launches))
        intervals = quantile_intervals(launches, shares, confidence)
        for q, interval in zip(shares, intervals, strict=True):
            rows.append((*point, q, interval.median, interval.low, interval.high, count))
    return pl.DataFrame(rows, QUANTILE_COLUMNS, orient="row")


def quantile_intervals(
    launches: Sequence[Floats], shares: Sequence[float], confidence: float = 0.95
) -> list[Interval]:
    """Quantiles of samples, (samples,) for each launch, with their intervals."""
    launches = [launch for launch in launches if len(launch)]
    if not launches:
        return [UNKNOWN for _ in shares]
    ordered, reached = pooled(launches)
    return [_quantile_interval(launches, ordered, reached, q, confidence) for q in shares]


def pooled(launches: Sequence[Floats]) -> tuple[Floats, Floats]:
    """All samples in order, and the share of the whole that each one completes."""
    values = np.concatenate(launches)
    weights = np.concatenate(
        [np.full(len(launch), 1 / (len(launch) * len(launches))) for launch in launches]
    )
    order = np.argsort(values)
    return values[order], np.cumsum(weights[order])


def quantile_of(ordered: Floats, reached: Floats, q: float) -> float:
    """The first of `pooled` samples that completes the share `q`."""
    place = int(np.searchsorted(reached, q - ROUNDING))
    return float(ordered[min(place, len(ordered) - 1)])


def _quantile_interval(
    launches: Sequence[Floats], ordered: Floats, reached: Floats, q: float, confidence: float
) -> Interval:
    """A quantile with its interval; UNKNOWN with too few samples beyond it."""
    from scipy.special import betaincinv

    number = len(ordered)
    if number < samples_needed(q):
        return UNKNOWN
    value = quantile_of(ordered, reached, q)
    number_alike = _independent(launches, value, q, confidence)
    beyond, below = number_alike * (1 - q), number_alike * q
    error = (1 - confidence) / 2
    least = float(betaincinv(beyond, below + 1, error))
    most = float(betaincinv(beyond + 1, below, 1 - error))
    low = quantile_of(ordered, reached, 1 - most) if number_alike * (1 - most) >= 1 else 0.0
    high = quantile_of(ordered, reached, 1 - least) if number_alike * least >= 1 else math.inf
    return Interval(value, min(low, value), max(high, value))


def _independent(launches: Sequence[Floats], value: float, q: float, confidence: float) -> float:
    """The independent samples that say as much about the share of samples beyond a value."""
    number = sum(map(len, launches))
    if len(launches) < 2:
        return float(number)
    # Of equal samples those at the quantile may be the whole tail, or all but the tail.
    shares = [[np.mean(launch > value), np.mean(launch >= value)] for launch in launches]
    variance = float(np.var(shares, axis=0, ddof=1).max()) / len(launches)
    if variance == 0:
        return float(number)
    z, t = (student_quantile(n, confidence) for n in (NORMAL_DEGREES, len(launches) - 1))
    return min(float(number), q * (1 - q) / variance * (z / t) ** 2)
