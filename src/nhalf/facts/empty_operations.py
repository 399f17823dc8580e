# SPDX-License-Identifier: Apache-2.0
"""Collective operations without data that a library does not carry out at all.

MPICH returns at once from a reduction of 0 bytes, for example. That time says nothing about any
other size: a line through it would start at the price of a call.
"""

from __future__ import annotations

import polars as pl

from nhalf.base.operations import COLLECTIVES, OVERLAPPING
from nhalf.store.keys import RUN_CURVE

SKIPPED_SHARE = 0.5
"""An operation that takes less than this share of that with the fewest bytes is not carried out."""


def carried_out(points: pl.DataFrame) -> pl.DataFrame:
    """The points (SUMMARY_COLUMNS) without those of size 0 at which the library does nothing."""
    fewest = (
        points.filter(pl.col("bytes") > 0)
        .sort("bytes")
        .group_by(RUN_CURVE, maintain_order=True)
        .agg(pl.col("median_s").first().alias("fewest_s"))
    )
    is_empty = (pl.col("bytes") == 0) & pl.col("pattern").is_in([*COLLECTIVES, *OVERLAPPING])
    is_skipped = is_empty & (pl.col("median_s") < SKIPPED_SHARE * pl.col("fewest_s"))
    return (
        points.join(fewest, on=RUN_CURVE, how="left", nulls_equal=True, maintain_order="left")
        .filter(~is_skipped.fill_null(False))
        .drop("fewest_s")
    )
