# SPDX-License-Identifier: Apache-2.0
"""When each rank finishes an operation, and when the first and the last rank leave a barrier."""

from __future__ import annotations

import polars as pl

from nhalf.facts.collectives import standard
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series


@fact
def finishing(facts: Facts) -> pl.DataFrame:
    """Blocking operations with times for each rank.

    Columns of `Facts.sound`, `series` and `shares`: each rank's time over that of the operation.
    """
    points = standard(facts.sound).filter(pl.col("rank_s").list.len() > 1)
    shares = pl.col("rank_s") / pl.col("median_s")
    return with_series(points.with_columns(shares=shares), facts)


@fact
def barriers(facts: Facts) -> pl.DataFrame:
    """Barriers under usual conditions, by pattern, ranks and time.

    Columns of `Facts.sound`, `first_s` and `last_s`: the ranks that leave earliest and latest.
    """
    points = facts.sound.filter(
        pl.col("pattern").is_in(["barrier", "ibarrier"]) & (pl.col("axes") == "")
    )
    return points.with_columns(
        first_s=pl.col("rank_s").list.min().fill_null(pl.col("median_s")),
        last_s=pl.col("rank_s").list.max().fill_null(pl.col("median_s")),
    ).sort("pattern", "ranks", "median_s")
