# SPDX-License-Identifier: Apache-2.0
"""The form of the measurements: one row is one point in one launch, with its raw samples."""

from __future__ import annotations

import polars as pl

VERSION = 1
"""Of the run directory: raised when an older reader would misread a newer file."""

POINT_COLUMNS: dict[str, pl.DataType] = {
    "transport": pl.String(),
    "mpi": pl.String(),
    "pattern": pl.String(),
    "algorithm": pl.String(),
    "ranks": pl.Int32(),
    "placement": pl.String(),
    "bytes": pl.Int64(),
}
"""What identifies a point within a run. `mpi` is '' for transports without MPI."""

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
}
"""`launch` counts the starts of one library from 0 (launch k of every library ran in the same
round, so equal numbers are pairs); `position` is the order within the launch; `started_s` seconds
since 1970; `batch` rounds per sample; `stop` why sampling ended: precision, time or samples;
`bytes_per_time` the bytes that one sample's time moved (rate = bytes_per_time / time); a sample is
the time of one operation as the pattern defines it (half a round trip for ping-pong), seconds."""

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
}
"""One row is one point of one run: what is reported. `median_s` is the pseudomedian of the launch
medians (statistics/intervals.py). Derived from the measurements, never stored."""
