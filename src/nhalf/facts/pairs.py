# SPDX-License-Identifier: Apache-2.0
"""Points of several pairs of ranks at once."""

from __future__ import annotations

import polars as pl

from nhalf.store.axes import axis
from nhalf.store.keys import VARIED_POINT

LATENCY, BANDWIDTH = "pairs-latency", "pairs-bandwidth"


def with_pairs(frame: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """The points of one pattern, with the whole number `pairs`; those on other axes left out."""
    pairs = axis("pairs").cast(pl.Int64, strict=False).alias("pairs")
    points = frame.filter((pl.col("pattern") == pattern) & (pl.col("median_s") > 0))
    return points.filter(pl.col("axes").str.contains(r"^pairs=\d+$")).with_columns(pairs)


def load_ratios(launches: pl.DataFrame) -> pl.DataFrame:
    """Per launch, the latency of several pairs over that of one: adds `pairs` and `ratio`."""
    points = with_pairs(launches, LATENCY)
    keys = [*VARIED_POINT, "launch"]
    alone = points.filter(pl.col("pairs") == 1).select(*keys, alone_s="median_s")
    return points.join(alone, on=keys, nulls_equal=True).with_columns(
        ratio=pl.col("median_s") / pl.col("alone_s")
    )
