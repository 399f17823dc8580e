# SPDX-License-Identifier: Apache-2.0
"""Operations timed with both starts: synchronised, and after a barrier."""

from __future__ import annotations

import polars as pl

from nhalf.base.operations import COLLECTIVES
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.store.keys import VARIED_POINT
from nhalf.store.values import value


@fact
def started_both_ways(facts: Facts) -> pl.DataFrame:
    """One row per point measured both ways, the most misleading first.

    Columns of `Facts.sound` for the synchronised start, with `clock_uncertainty_s`; for the barrier
    start `barrier_s` (its time), `true_s` (its first start to last end) and `ratio`, its time over
    that of the synchronised start.
    """
    points = facts.sound.filter(pl.col("pattern").is_in(COLLECTIVES))
    together = points.filter(pl.col("axes") == "").with_columns(value("clock_uncertainty_s"))
    barrier = points.filter(pl.col("axes") == "start=barrier").with_columns(value("true_s"))
    paired = together.join(
        barrier.select(*VARIED_POINT, "true_s", barrier_s="median_s"),
        on=VARIED_POINT,
        nulls_equal=True,
    )
    return paired.with_columns(ratio=pl.col("barrier_s") / pl.col("median_s")).sort(
        pl.col("ratio").log().abs(), descending=True
    )
