# SPDX-License-Identifier: Apache-2.0
"""The form of the measurements: one row is one point in one launch, with its raw samples."""

from __future__ import annotations

import polars as pl

VERSION = 2
"""Of the run directory: raised when an older reader would misread a newer file."""

READ_VERSIONS = (1, 2)
"""Version 1 has no further axes: what it lacks is filled in (ADDED_COLUMNS)."""

POINT_COLUMNS: dict[str, pl.DataType] = {
    "transport": pl.String(),
    "mpi": pl.String(),
    "pattern": pl.String(),
    "algorithm": pl.String(),
    "ranks": pl.Int32(),
    "placement": pl.String(),
    "axes": pl.String(),
    "bytes": pl.Int64(),
}
"""What identifies a point within a run. `mpi` is '' for transports without MPI; `axes` are the
further axes of its pattern, 'name=value,name=value' sorted by name, '' for none
(store/axes.py)."""

VALUES = pl.List(pl.Struct({"name": pl.String(), "value": pl.Float64()}))
"""Named numbers, sorted by name."""

MEASUREMENT_COLUMNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    **POINT_COLUMNS,
    "launch": pl.Int32(),
    "position": pl.Int32(),
    "started_s": pl.Float64(),
    "batch": pl.Int64(),
    "messages_per_round": pl.Int32(),
    "bytes_per_time": pl.Int64(),
    "stop": pl.String(),
    "verified": pl.Boolean(),
    "advice": pl.List(pl.String()),
    "samples_s": pl.List(pl.Float64()),
    "rank_s": pl.List(pl.Float64()),
    "values": VALUES,
}
"""`launch` counts the starts of one library from 0 (launch k of every library ran in the same
round, so equal numbers are pairs); `position` is the order within the launch; `started_s` seconds
since 1970; `batch` rounds per sample; `stop` why sampling ended: precision, time or samples;
`bytes_per_time` the bytes that one sample's time moved (rate = bytes_per_time / time); a sample is
the time of one operation as the pattern defines it (half a round trip for ping-pong), seconds;
`rank_s` the median of each rank's own times, seconds, empty where one rank has the time; `values`
what else the pattern found, with the units in the names."""

ADDED_COLUMNS = ("axes", "rank_s", "values")
"""What came after version 1: empty where a run of it is read."""

SUMMARY_COLUMNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    **POINT_COLUMNS,
    "median_s": pl.Float64(),
    "ci_low_s": pl.Float64(),
    "ci_high_s": pl.Float64(),
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
medians (statistics/intervals.py); `rank_s` holds the median over launches for each rank, `values`
that of each name. Derived from the measurements, never stored."""
