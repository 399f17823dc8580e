# SPDX-License-Identifier: Apache-2.0
"""The numbers that stand for a library: latency, n½, peak rate and switches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, describes, sound, with_series

PATTERN = MAIN_PATTERN


@dataclass(frozen=True)
class Overview:
    """One line of the summary: one library (or whatever else makes a curve of its own).

    `latency_s` is the reported time of the smallest size, with its interval; `peak_Bps` the
    highest rate, reached at `peak_bytes`, with the interval of that point; `n_half_bytes` the size
    at which the measured curve first reaches half of it (Hockney), NaN where it never does;
    `switches` the brackets (last size before, first size after) at which the model changes.
    """

    series: str
    mpi: str
    latency_s: float
    latency_low_s: float
    latency_high_s: float
    latency_bytes: int
    n_half_bytes: float
    peak_Bps: float
    peak_low_Bps: float
    peak_high_Bps: float
    peak_bytes: int
    switches: tuple[tuple[int, int], ...]
    launches: int


@dataclass(frozen=True)
class PatternOverview:
    """One line where the main pattern was not measured: one library and one other pattern.

    The times are those of the smallest size, from the quickest to the slowest of its further axes
    (phases, pairs of ranks ...); `peak_Bps` is the highest rate of all, 0 where nothing moves.
    """

    series: str
    pattern: str
    points: int
    smallest_bytes: int
    quickest_s: float
    slowest_s: float
    peak_Bps: float


def patterns_overview(data: Facts) -> list[PatternOverview]:
    """One entry per curve and pattern, of whatever was measured."""
    points = with_series(sound(data.summary), data)
    smallest = pl.col("median_s").filter(pl.col("bytes") == pl.col("bytes").min())
    found = points.group_by("series", "pattern").agg(
        points=pl.len(),
        smallest_bytes=pl.col("bytes").min(),
        quickest_s=smallest.min(),
        slowest_s=smallest.max(),
        peak_Bps=(pl.col("bytes_per_time") / pl.col("median_s")).max(),
    )
    return [PatternOverview(**row) for row in found.sort("series", "pattern").to_dicts()]


def overview(data: Facts) -> list[Overview]:
    """One entry per curve of the main pattern, in the report's order of series."""
    points = with_series(sound(data.summary), data)
    points = points.filter(pl.col("pattern") == PATTERN).sort("series", "bytes")
    return [_curve(curve, data) for (_,), curve in points.group_by("series", maintain_order=True)]


def _curve(points: pl.DataFrame, data: Facts) -> Overview:
    first = points.row(0, named=True)
    rates = points.filter((pl.col("bytes") > 0) & (pl.col("bytes_per_time") > 0)).with_columns(
        rate=pl.col("bytes_per_time") / pl.col("median_s")
    )
    empty = {"bytes_per_time": math.nan, "rate": math.nan, "low_s": 1.0, "high_s": 1.0, "bytes": 0}
    peak = rates.sort("rate").row(-1, named=True) if rates.height else empty
    return Overview(
        series=first["series"],
        mpi=first["mpi"],
        latency_s=first["median_s"],
        latency_low_s=first["low_s"],
        latency_high_s=first["high_s"],
        latency_bytes=first["bytes"],
        n_half_bytes=n_half(rates["bytes"].to_list(), rates["rate"].to_list()),
        peak_Bps=peak["rate"],
        peak_low_Bps=peak["bytes_per_time"] / peak["high_s"],
        peak_high_Bps=peak["bytes_per_time"] / peak["low_s"],
        peak_bytes=int(peak["bytes"]),
        switches=_switches(first, data),
        launches=int(points["launches"].max() or 0),  # type: ignore[arg-type]
    )


def n_half(sizes: list[int], rates: list[float]) -> float:
    """The size, between the measured ones, at which the rate first reaches half of its peak.

    Interpolated on logarithms of both. NaN when there are fewer than two sizes or when the
    smallest size is already above half: then n½ lies below everything that was measured.
    """
    if len(sizes) < 2 or rates[0] > max(rates) / 2:
        return math.nan
    half = max(rates) / 2
    above = next(index for index, rate in enumerate(rates) if rate >= half)
    if above == 0:
        return float(sizes[0])
    low, high = rates[above - 1], rates[above]
    share = (math.log(half) - math.log(low)) / (math.log(high) - math.log(low))
    return math.exp(
        math.log(sizes[above - 1]) + share * (math.log(sizes[above]) - math.log(sizes[above - 1]))
    )


def _switches(point: dict[str, object], data: Facts) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for model in data.models:
        if describes(model, point):
            found += [(change.low_bytes, change.high_bytes) for change in model.breakpoints]
    return tuple(found)
