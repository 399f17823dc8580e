"""Variants, named by axes of a pattern, compared with the standard in the same launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import with_cores
from nhalf.facts.difference import COSTLY
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.axes import axis
from nhalf.store.keys import VARIED_POINT


@dataclass(frozen=True)
class Variants:
    """Patterns, and the values of the axes that name their standard variant."""

    patterns: tuple[str, ...]
    standard: tuple[tuple[str, str], ...]


ACCESSES = (
    *("rma-put", "rma-get", "rma-accumulate", "rma-get-accumulate", "rma-fetch-and-op"),
    *("rma-compare-and-swap", "rma-put-all", "rma-get-all"),
)
WINDOWS = Variants(ACCESSES, (("access", "flush"), ("window", "allocate")))
"""Accesses to MPI windows."""
LAYOUTS = Variants(("pingpong-layout",), (("layout", "contiguous"), ("by", "type")))
"""Non-contiguous data."""
THREADS = Variants(
    ("pingpong-threads", "stream-threads"), (("threads", "1"), ("communicators", "one"))
)
"""Concurrent messages of several threads of each rank."""


@fact
def against_standard(facts: Facts, variants: Variants) -> pl.DataFrame:
    """Per launch, the time of each variant over that of the standard.

    Columns of a launch, one for each axis of the standard, `ratio` and `series`. Other axes are
    equal in both; of several combinations of those only the first is kept.
    """
    standard = dict(variants.standard)
    points = facts.launches.filter(
        pl.col("pattern").is_in(variants.patterns), pl.col("median_s") > 0
    )
    other_axes = (
        pl.col("axes")
        .str.split(",")
        .list.eval(pl.element().filter(~pl.element().str.contains(rf"^(?:{'|'.join(standard)})=")))
    )
    points = with_cores(points, facts).with_columns(
        *(axis(name).fill_null(value) for name, value in standard.items()),
        others=other_axes.list.join(","),
    )
    points = points.filter(pl.col("others") == pl.col("others").min().over("pattern"))
    keys = [*VARIED_POINT, "launch"]
    is_standard = pl.all_horizontal(pl.col(name) == value for name, value in standard.items())
    times = points.filter(is_standard).select(*keys, standard_s="median_s")
    ways = points.filter(~is_standard).join(times, on=keys, nulls_equal=True)
    ratios = ways.with_columns(ratio=pl.col("median_s") / pl.col("standard_s"))
    return with_series(ratios, facts)


@dataclass(frozen=True)
class WayRatio:
    """A variant at the size where it differs most: its time over that of the standard.

    `way` maps axes to values.
    """

    series: str
    mpi: str
    pattern: str
    way: dict[str, str]
    size_bytes: int
    ratio: Interval


@fact
def slower_ways(facts: Facts, variants: Variants) -> Iterator[WayRatio]:
    """For each library the most expensive variant, if significant, at its worst size."""
    ratios = against_standard(facts, variants)
    standard = dict(variants.standard)
    for (series, mpi), frame in ratios.group_by("series", "mpi", maintain_order=True):
        ratios_by_way = [
            WayRatio(
                str(series),
                str(mpi),
                str(key[0]),
                dict(zip(standard, map(str, key[2:]), strict=True)),
                int(str(key[1])),
                interval,
            )
            for key, points in frame.group_by("pattern", "bytes", *standard, maintain_order=True)
            if points.height > 1
            and (interval := ratio_interval(points["ratio"].to_list())).low > COSTLY
        ]
        if ratios_by_way:
            yield max(ratios_by_way, key=lambda way_ratio: way_ratio.ratio.median)
