"""How long a run takes for one more launch of everything that it measures."""

from __future__ import annotations

import math

import polars as pl

from nhalf.store.run import Run


def launch_interval_s(run: Run) -> float:
    """Seconds from a launch to the next one, the median; NaN with fewer than two launches.

    What ran between two parts of a run that was resumed does not move it.
    """
    first = run.measurements().group_by("launch").agg(pl.col("started_s").min())
    started = first.sort("launch").collect()["started_s"]
    interval_s = started.diff().drop_nulls().median()
    return float(interval_s) if isinstance(interval_s, float) else math.nan
