# SPDX-License-Identifier: Apache-2.0
"""The form of the tables: of measurements, which are stored, and of the summary, which is not."""

from __future__ import annotations

import polars as pl

from nhalf.store.record import VALUES, Identity, Record, columns

VERSION = 2
"""Of the run directory: raised when an older reader would misread a newer file."""

READ_VERSIONS = (1, 2)
"""Version 1 has no further axes: what it lacks is filled in (record.py, ADDED)."""

POINT_COLUMNS = columns(Identity)
"""What identifies a point within a run."""

MEASUREMENT_COLUMNS: dict[str, pl.DataType] = {"run": pl.String(), **columns(Record)}
"""One row is one point in one launch: a `Record` and the name of its run."""

SUMMARY_COLUMNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    **POINT_COLUMNS,
    "median_s": pl.Float64(),
    "ci_low_s": pl.Float64(),
    "ci_high_s": pl.Float64(),
    "state_s": pl.Float64(),
    "state_share": pl.Float64(),
    "lowest_s": pl.Float64(),
    "launches": pl.Int32(),
    "samples": pl.Int64(),
    "bytes_per_time": pl.Int64(),
    "verified": pl.Boolean(),
    "advice": pl.List(pl.String()),
    "rank_s": pl.List(pl.Float64()),
    "values": VALUES,
}
"""One row is one point of one run: what is reported. `median_s` is the pseudomedian of the launch
medians (statistics/intervals.py), the interval is for the next run. Both are of the launches in one
state of the machine, which are `state_share` of all; `state_s` is what a flag between two cores
took in it, null where it was not measured (statistics/flags.py). `rank_s` holds the median
over launches for each rank, `values` that of each name. Derived from the measurements, never
stored."""
