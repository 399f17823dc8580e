"""Long series of calls: whether time, memory or descriptors grow from call to call."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, student_quantile
from nhalf.store.keys import RUN_SUBJECT, axis, value

PATTERN = "soak"
WARM_SHARE = 0.1
"""The share of the calls at the beginning that fill caches and buffers, and count for no trend."""
PARTS_MIN = 5


@dataclass(frozen=True)
class SoakedSeries:
    """The trends of one launch: what each call adds, with 95 % intervals.

    `time_s` is the median of a call; `time_trend` is a share of it, over all calls that count.
    `clocks_ratio` is the one furthest from 1 of the times by two clocks; None without a second one.
    """

    series: str
    mpi: str
    of: str
    size_bytes: int
    calls: int
    time_s: float
    time_trend: Interval
    memory_bytes: Interval
    descriptors: Interval
    clocks_ratio: float | None


@fact
def soaked(facts: Facts) -> Iterator[SoakedSeries]:
    """Every series with enough parts."""
    columns = [value(name) for name in ("calls", "memory_bytes", "descriptors", "clocks_ratio")]
    parts = (
        facts.measurements.filter(pl.col("pattern") == PATTERN, pl.col("verified"))
        .select(
            *RUN_SUBJECT,
            *("algorithm", "bytes", "launch", "axes"),
            axis("of").fill_null("barrier"),
            *columns,
            time_s=pl.col("samples_s").list.median(),
        )
        .unique(["run", "mpi", "transport", "launch", "calls"])
        .collect()
    )
    if parts.is_empty():
        return
    groups = ["series", "mpi", "of", "bytes", "run", "launch", "ranks", "placement"]
    for (series, mpi, of, size, *_), frame in (
        with_series(parts, facts).sort(*groups, "calls").group_by(groups, maintain_order=True)
    ):
        late = frame.filter(pl.col("calls") > WARM_SHARE * pl.col("calls").max())
        if late.height < PARTS_MIN:
            continue
        calls, time_s = late["calls"].to_numpy(), late["time_s"].to_numpy()
        middle_s = float(np.median(time_s))
        whole = (calls[-1] - calls[0]) / middle_s if middle_s > 0 else 0.0
        ratios = late["clocks_ratio"].drop_nulls().to_list()
        yield SoakedSeries(
            *(str(series), str(mpi), str(of), int(str(size)), int(calls[-1]), middle_s),
            time_trend=_scaled(trend(calls, time_s), whole),
            memory_bytes=trend(calls, late["memory_bytes"].to_numpy()),
            descriptors=trend(calls, late["descriptors"].to_numpy()),
            clocks_ratio=max(ratios, key=lambda ratio: abs(ratio - 1), default=None),
        )


def trend(calls: Floats, amount: Floats) -> Interval:
    """The slope of a straight line through (n,) amounts, n >= 3, with its 95 % interval.

    Neighbours that resemble each other tell less: the interval is widened by their correlation as
    by fewer points (H. von Storch, F. Zwiers, Statistical Analysis in Climate Research, 6.6.8).
    """
    centred = calls - calls.mean()
    square = float(centred @ centred)
    slope = float(centred @ amount) / square
    residual = amount - amount.mean() - slope * centred
    misfit = float(residual @ residual)
    alike = float(residual[1:] @ residual[:-1]) / misfit if misfit > 0 else 0.0
    alike = min(max(alike, 0.0), 0.99)
    degrees = max(1.0, calls.size * (1 - alike) / (1 + alike) - 2)
    reach = student_quantile(max(1, int(degrees)), 0.95) * np.sqrt(misfit / degrees / square)
    return Interval(slope, slope - float(reach), slope + float(reach))


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(interval.median * factor, interval.low * factor, interval.high * factor)
