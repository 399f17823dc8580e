# SPDX-License-Identifier: Apache-2.0
"""Ranks as places on an axis: one each, or groups of neighbours where there are many."""

from __future__ import annotations

import math

import polars as pl

PLACES_MAX = 128


def places_of(ranks: int) -> pl.DataFrame:
    """Columns `rank`, `place` (the first rank of its group), `ranks` in words, `members`."""
    step = max(1, math.ceil(ranks / PLACES_MAX))
    all_ranks = pl.DataFrame({"rank": range(ranks)}, schema={"rank": pl.Int32})
    first = pl.col("rank") // step * step
    last = pl.min_horizontal(first + step - 1, pl.lit(ranks - 1))
    words = first.cast(pl.String)
    if step > 1:
        words = words + " to " + last.cast(pl.String)
    return all_ranks.with_columns(place=first, ranks=words, members=last - first + 1)
