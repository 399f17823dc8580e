# SPDX-License-Identifier: Apache-2.0
"""The spread of the launches of one point."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, plain, with_series

POINT = ["series", "pattern", "bytes"]


@fact
def deviations(facts: Facts) -> pl.DataFrame:
    """One row per launch and size of one pattern, the main one if it was measured.

    Columns of a launch, `series` and `deviation`, the difference of its median from that of the
    point's median launch, relative to it. Points of one launch are left out.
    """
    points = _one_pattern(with_series(plain(facts.launches, facts), facts))
    deviation = pl.col("median_s") / pl.col("median_s").median().over(POINT) - 1
    return points.filter(pl.len().over(POINT) > 1).with_columns(deviation=deviation)


def _one_pattern(points: pl.DataFrame) -> pl.DataFrame:
    patterns = points["pattern"].unique().sort().to_list()
    if MAIN_PATTERN in patterns:
        return points.filter(pl.col("pattern") == MAIN_PATTERN)
    return points.filter(pl.col("pattern") == patterns[0]) if patterns else points
