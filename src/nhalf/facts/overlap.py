# SPDX-License-Identifier: Apache-2.0
"""Overlap of nonblocking operations with computation."""

from __future__ import annotations

import polars as pl

from nhalf.base.operations import OVERLAPPING
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.values import value


@fact
def overlaps(facts: Facts) -> pl.DataFrame:
    """One row per point whose computation takes as long as the operation alone.

    Columns of `Facts.sound`, `series`, `overlap` (the share of the operation that is hidden, 0 to
    1) and `pure_s`, the operation alone, null if unknown.
    """
    points = facts.sound.filter(pl.col("pattern").is_in(OVERLAPPING), pl.col("axes") == "work=1")
    points = points.with_columns(value("overlap"), value("pure_s")).drop_nulls("overlap")
    return with_series(points.with_columns(axes=pl.lit("")), facts)
