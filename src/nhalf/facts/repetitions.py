# SPDX-License-Identifier: Apache-2.0
"""How often the operation of each point was timed."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.store.keys import RUN_POINT


@fact
def with_repetitions(facts: Facts) -> pl.DataFrame:
    """`Facts.summary` with `repetitions`, how often the operation was timed over all launches, and
    `batch`, the largest number of consecutive ones without a pause.
    """
    counted = (
        facts.measurements.group_by(RUN_POINT)
        .agg(
            repetitions=(pl.col("batch") * pl.col("samples_s").list.len()).sum().cast(pl.Int64),
            batch=pl.col("batch").max(),
        )
        .collect()
    )
    return facts.summary.join(
        counted, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left"
    )
