"""The schemas of the tables: measurements, which are stored, and the summary, which is not."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from nhalf.store.record import VALUES, PointIdentity, Record, columns

VERSION = 2
"""Version of the run directory: raised when an older reader would misread a newer file."""

READ_VERSIONS = (1, 2)
"""Version 1 has no further axes: columns that it lacks are filled in (record.py, ADDED)."""

POINT_COLUMNS = columns(PointIdentity)
"""The columns that identify a point within a run."""

MEASUREMENT_COLUMNS: dict[str, pl.DataType] = {"run": pl.String(), **columns(Record)}
"""One row per visit of a launch to a point: a `Record` and the name of its run."""

LAUNCH_COLUMNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    **POINT_COLUMNS,
    "launch": MEASUREMENT_COLUMNS["launch"],
    "median_s": pl.Float64(),
    "lowest_s": pl.Float64(),
    "samples": pl.Int64(),
}
"""One row per point and launch (statistics/summary.py): the median of its samples, the fastest of
them, and their number."""

FLAGGED_COLUMNS: dict[str, pl.DataType] = {**LAUNCH_COLUMNS, "flag_s": pl.Float64()}
"""A launch with the time of a flag between two cores: null if missed, NaN if it changed."""


def conformed(frame: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with these columns, in their order and of their types.

    Frames are conformed where they are made, so that they can be stacked. A column that is missing
    is a defect of the program: polars raises ColumnNotFoundError.
    """
    return frame.select(pl.col(name).cast(kind) for name, kind in columns.items())


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
"""One row per point of one run, as reported. `median_s` is the pseudomedian of the launch
medians (statistics/intervals.py); the interval is for the next run. Both cover the launches in
one state of the machine, a share `state_share` of all; `state_s` is the time of a flag between
two cores in that state, null if not measured (statistics/advice.py). `rank_s` holds each rank's
median over launches, `values` the median for each name. Derived from the measurements, never
stored."""
