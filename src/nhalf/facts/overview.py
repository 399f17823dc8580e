"""Latency, n½, peak rate and switches of every curve, and the curves with their models."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.causes import is_decided_cache
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, describes, labelled_points, plain_points
from nhalf.facts.switches import evident_changes
from nhalf.machines.machine import FittedModel
from nhalf.statistics.intervals import launch_interval
from nhalf.store.keys import RUN_CURVE


@dataclass(frozen=True)
class LibraryOverview:
    """One line of the summary: one library (or whatever else has its own curve).

    `latency_s` is the reported time of the smallest size, with its interval; `peak_Bps` the
    highest rate, reached at `peak_bytes`, with the interval of that point; `n_half_bytes` the size
    at which the measured curve first reaches half of it (Hockney), NaN if it never does, with the
    interval over the values from each launch's curve (NaN for fewer than two);
    `switches` the brackets (last size before, first size after) at which the model changes and
    the launches prove it, but where a cache is the reason.
    """

    series: str
    mpi: str
    latency_s: float
    latency_low_s: float
    latency_high_s: float
    latency_bytes: int
    n_half_bytes: float
    n_half_low_bytes: float
    n_half_high_bytes: float
    peak_Bps: float
    peak_low_Bps: float
    peak_high_Bps: float
    peak_bytes: int
    switches: tuple[tuple[int, int], ...]
    launches: int

    @property
    def latency_half_width(self) -> float:
        """Half of the latency's interval, relative to it."""
        return (self.latency_high_s - self.latency_low_s) / 2 / self.latency_s


@dataclass(frozen=True)
class PatternOverview:
    """One line without the main pattern: one library and one other pattern.

    The times are those of the smallest size, from the fastest to the slowest of its further axes
    (phases, pairs of ranks ...); `peak_Bps` is the highest rate of all, NaN if no data moves.
    """

    series: str
    pattern: str
    points: int
    smallest_bytes: int
    quickest_s: float
    slowest_s: float
    peak_Bps: float


@fact
def patterns_overview(facts: Facts) -> list[PatternOverview]:
    """One entry per measured curve and pattern."""
    points = labelled_points(facts)
    smallest = pl.col("median_s").filter(pl.col("bytes") == pl.col("bytes").min())
    curves = points.group_by("series", "pattern").agg(
        points=pl.len(),
        smallest_bytes=pl.col("bytes").min(),
        quickest_s=smallest.min(),
        slowest_s=smallest.max(),
        peak_Bps=pl.col("rate_Bps").max().fill_null(math.nan),
    )
    return [PatternOverview(**row) for row in curves.sort("series", "pattern").to_dicts()]


@fact
def overview(facts: Facts) -> list[LibraryOverview]:
    """One entry per curve of the main pattern, in the report's order of series."""
    points = labelled_points(facts)
    points = points.filter(pl.col("pattern") == MAIN_PATTERN).sort("series", "bytes")
    return [_curve(curve, facts) for (_,), curve in points.group_by("series", maintain_order=True)]


def _curve(points: pl.DataFrame, facts: Facts) -> LibraryOverview:
    first = points.row(0, named=True)
    rates = points.filter((pl.col("bytes") > 0) & pl.col("rate_Bps").is_not_null())
    half = n_half(rates["bytes"].to_list(), rates["rate_Bps"].to_list())
    half_low, half_high = _n_half_ends(first, half, facts)
    nothing = dict.fromkeys(("rate_Bps", "rate_low_Bps", "rate_high_Bps"), math.nan) | {"bytes": 0}
    peak = rates.sort("rate_Bps").row(-1, named=True) if rates.height else nothing
    switch_ends: list[tuple[int, int]] = []
    for model in facts.models:
        if describes(model, first):
            changes = evident_changes(facts, model)
            switch_ends += [
                (change.low_bytes, change.high_bytes)
                for change in changes
                if not is_decided_cache(change.cause)
            ]
    return LibraryOverview(
        series=first["series"],
        mpi=first["mpi"],
        latency_s=first["median_s"],
        latency_low_s=first["low_s"],
        latency_high_s=first["high_s"],
        latency_bytes=first["bytes"],
        n_half_bytes=half,
        n_half_low_bytes=half_low,
        n_half_high_bytes=half_high,
        peak_Bps=peak["rate_Bps"],
        peak_low_Bps=peak["rate_low_Bps"],
        peak_high_Bps=peak["rate_high_Bps"],
        peak_bytes=int(peak["bytes"]),
        switches=tuple(switch_ends),
        launches=int(points["launches"].max() or 0),  # type: ignore[arg-type]
    )


def n_half(sizes: list[int], rates: list[float]) -> float:
    """The size at which the rate first reaches half of its peak, interpolated between sizes.

    Interpolated on logarithms of both. NaN for fewer than two sizes, or if the smallest size is
    already above half: then n½ lies below all measured sizes.
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


def _n_half_ends(point: dict[str, Any], half: float, facts: Facts) -> tuple[float, float]:
    """The interval of n½ over launches, extended to the reported curve's; NaN without one."""
    is_this_curve = [pl.col(name) == point[name] for name in RUN_CURVE]
    curves = facts.launches.filter(pl.col("median_s") > 0, pl.col("bytes") > 0, *is_this_curve)
    launch_sizes = [
        n_half(curve["bytes"].to_list(), (curve["bytes"] / curve["median_s"]).to_list())
        for _, curve in curves.sort("launch", "bytes").group_by("launch", maintain_order=True)
    ]
    finite_sizes = [size for size in launch_sizes if not math.isnan(size)]
    if len(finite_sizes) < 2 or math.isnan(half):
        return math.nan, math.nan
    interval = launch_interval(finite_sizes)
    return min(interval.low, half), max(interval.high, half)


@fact
def half_rates(facts: Facts) -> list[Row]:
    """By series and pattern between two ranks: `n_half_bytes`, and the rate there, `half_Bps`.

    Curves that start above half of their maximum rate have none.
    """
    points = plain_points(facts).filter(pl.col("bytes") > 0, pl.col("rate_Bps").is_not_null())
    rows: list[Row] = []
    curves = points.sort("bytes").group_by("series", "pattern", maintain_order=True)
    for (series, pattern), curve in curves:
        size_bytes = n_half(curve["bytes"].to_list(), curve["rate_Bps"].to_list())
        if not math.isnan(size_bytes):
            half_Bps = float(curve["rate_Bps"].max()) / 2  # type: ignore[arg-type]
            rows.append(
                {
                    **{"series": series, "pattern": pattern},
                    **{"n_half_bytes": size_bytes, "half_Bps": half_Bps},
                }
            )
    return rows


@fact
def fitted_curves(facts: Facts) -> Iterator[tuple[str, pl.DataFrame, list[FittedModel]]]:
    """Series, points (`Facts.sound`) and models of every curve that could be fitted."""
    points = labelled_points(facts).filter(pl.col("pattern") == MAIN_PATTERN)
    for (series,), curve in points.group_by("series", maintain_order=True):
        first = curve.row(0, named=True)
        models = [model for model in facts.models if describes(model, first)]
        if models:
            yield str(series), curve, models
