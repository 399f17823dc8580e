# SPDX-License-Identifier: Apache-2.0
"""Non-contiguous data: an MPI data type against packing by hand."""

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

PATTERN = "pingpong-layout"


@dataclass(frozen=True)
class Packed:
    """The size at which a library's data type costs most, as a ratio to packing by hand.

    `sure` of the `sizes` measured both ways cost significantly more than COSTLY.
    """

    series: str
    mpi: str
    layout: str
    size_bytes: int
    ratio: Interval
    sure: int
    sizes: int


@fact
def packed_sooner(facts: Facts) -> list[Packed]:
    """Libraries and layouts for which packing by hand is faster, the worst first."""
    packed: list[Packed] = []
    paired = _paired(facts)
    if paired.is_empty():
        return packed
    paired = with_series(paired, facts)
    for (series, mpi, layout), frame in paired.group_by(
        "series", "mpi", "layout", maintain_order=True
    ):
        costly_sizes = list(_costly(frame))
        if costly_sizes:
            size_bytes, ratio = max(costly_sizes, key=lambda size_ratio: size_ratio[1].median)
            sizes = frame["bytes"].n_unique()
            about = (str(series), str(mpi), str(layout), size_bytes)
            packed.append(Packed(*about, ratio, len(costly_sizes), sizes))
    return sorted(packed, key=lambda case: -case.ratio.median)


@fact
def _paired(facts: Facts) -> pl.DataFrame:
    """Launches that were measured both ways, with `layout` and `ratio` = type / hand."""
    launches = facts.launches.filter(pl.col("pattern") == PATTERN, pl.col("median_s") > 0)
    points = with_cores(launches, facts).with_columns(
        axis("layout"), axis("by"), axis("block").fill_null("")
    )
    keys = [*VARIED_POINT, "layout", "block", "launch"]
    hand = points.filter(pl.col("by") == "hand").select(*keys, hand_s="median_s")
    paired = points.filter(pl.col("by") == "type").join(hand, on=keys, nulls_equal=True)
    return paired.with_columns(ratio=pl.col("median_s") / pl.col("hand_s"))


def _costly(frame: pl.DataFrame) -> Iterator[tuple[int, Interval]]:
    """The sizes at which the type costs significantly more."""
    for (size_bytes,), points in frame.group_by("bytes", maintain_order=True):
        interval = ratio_interval(points["ratio"].to_list())
        if points.height > 1 and interval.low > COSTLY:
            yield int(str(size_bytes)), interval
