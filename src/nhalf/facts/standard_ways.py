# SPDX-License-Identifier: Apache-2.0
"""Variants, named by axes of a pattern, compared with the standard in the same launch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import with_cores
from nhalf.facts.difference import COSTLY
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.axes import axis
from nhalf.store.keys import VARIED_POINT

WINDOWS = (
    *("rma-put", "rma-get", "rma-accumulate", "rma-get-accumulate", "rma-fetch-and-op"),
    *("rma-compare-and-swap", "rma-put-all", "rma-get-all"),
)
"""Accesses to MPI windows."""
WINDOW_STANDARD = {"access": "flush", "window": "allocate"}

LAYOUTS = ("pingpong-layout",)
"""Non-contiguous data."""
LAYOUT_STANDARD = {"layout": "contiguous", "by": "type"}

THREADS = ("pingpong-threads", "stream-threads")
"""Concurrent messages of several threads of each rank."""
THREADS_STANDARD = {"threads": "1", "communicators": "one"}


def against_standard(
    facts: Facts, patterns: Collection[str], standard: Mapping[str, str]
) -> pl.DataFrame:
    """Per launch, the time of each variant over that of the standard, whose axes are `standard`.

    Columns of a launch, one for each of these axes, `ratio` and `series`. Other axes are equal in
    both; of several combinations of those only the first is kept.
    """
    points = facts.launches.filter(pl.col("pattern").is_in(patterns), pl.col("median_s") > 0)
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


def slower_ways(
    facts: Facts, patterns: Collection[str], standard: Mapping[str, str]
) -> Iterator[WayRatio]:
    """For each library the most expensive variant, if significant, at its worst size."""
    ratios = against_standard(facts, patterns, standard)
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
