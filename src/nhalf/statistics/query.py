# SPDX-License-Identifier: Apache-2.0
"""SQL over any number of runs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nhalf.base.errors import InputError
from nhalf.statistics.summary import launch_medians, summarise
from nhalf.store.keys import RUN_POINT
from nhalf.store.run import Run


def query(text: str, runs: Sequence[Run]) -> pl.DataFrame:
    """The answer to a SELECT on the tables of `runs`.

    `points` is the summary (store/schema.py SUMMARY_COLUMNS), `launches` the median of each
    launch, `samples` every raw sample with the columns of its measurement, `ranks` the median of
    each rank in each launch (rank, rank_s), `extras` the named values of each launch (name,
    value). Raises InputError for SQL that cannot be understood.
    """
    measurements = pl.concat([run.measurements() for run in runs])
    lowered = text.lower()
    tables: dict[str, pl.LazyFrame] = {}
    if "points" in lowered:
        tables["points"] = summarise(measurements).lazy()
    if "launches" in lowered:
        tables["launches"] = launch_medians(measurements).lazy()
    tables["samples"] = measurements.explode("samples_s").rename({"samples_s": "sample_s"})
    tables["ranks"] = (
        _listed(measurements, "rank_s")
        .with_columns(rank=pl.int_ranges(pl.col("rank_s").list.len()))
        .explode("rank", "rank_s")
    )
    tables["extras"] = _listed(measurements, "values").explode("values").unnest("values")
    try:
        return pl.SQLContext(tables, eager=False).execute(text).collect()
    except (pl.exceptions.PolarsError, ValueError) as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(
            f"the query cannot be answered: {first}",
            "tables are points, launches, samples, ranks and extras",
        ) from error


def _listed(measurements: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """The launches of points that have something in a list column."""
    kept = measurements.filter(pl.col(column).list.len() > 0)
    return kept.select(*RUN_POINT, "launch", column)
