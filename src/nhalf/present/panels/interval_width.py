# SPDX-License-Identifier: Apache-2.0
"""The points that did not reach their target precision: listed, not hidden."""

from __future__ import annotations

from typing import Any

import polars as pl

from nhalf.base.units import format_size, format_time
from nhalf.present.charts import common
from nhalf.present.panels import Panel, ReportData, Table
from nhalf.statistics.advice import PRECISION_TARGET

ROWS_MAX = 400


class IntervalWidth(Panel):
    title = "Less sure than asked"
    how_to_read = (
        "These points did not reach the precision that the run aimed at, widest first: read their "
        "numbers with their interval, or measure again with more time or more launches."
    )
    order = 80

    def render(self, data: ReportData) -> Table | None:
        points = common.with_series(missed(data), data)
        if points.is_empty():
            return None
        rows = [
            [
                row["series"],
                common.full_name(row),
                format_size(row["bytes"]),
                format_time(row["median_s"]),
                common.half_width_text(row["half_width"]),
                str(row["launches"]),
                ", ".join(row["advice"] or []) or "–",
            ]
            for row in points.head(ROWS_MAX).iter_rows(named=True)
        ]
        if points.height > ROWS_MAX:
            rows.append([f"and {points.height - ROWS_MAX} more", "", "", "", "", "", ""])
        return Table(
            ["library", "pattern", "size", "time", "half-width", "launches", "advice"], rows
        )


def missed(data: ReportData) -> pl.DataFrame:
    """The summary's points whose interval is wider than their run's target, widest first.

    Adds `half_width` (relative, the larger side). Points of one launch are not judged: their
    interval says nothing about other launches.
    """
    median = pl.col("median_s")
    reach = pl.max_horizontal(pl.col("ci_high_s") - median, median - pl.col("ci_low_s")) / median
    targets = {run: target_of(environment) for run, environment in data.environments.items()}
    target = pl.col("run").replace_strict(
        targets, default=PRECISION_TARGET, return_dtype=pl.Float64
    )
    return (
        data.summary.with_columns(half_width=reach)
        .filter((pl.col("launches") > 1) & pl.col("half_width").is_finite())
        .filter(pl.col("half_width") > target)
        .sort("half_width", descending=True)
    )


def target_of(environment: dict[str, Any]) -> float:
    """The half-width aimed at: PRECISION_TARGET, or what the plan asked for where that is more.

    A plan may ask for less within a launch; between launches, less is not always to be had.
    """
    plan = environment.get("plan")
    asked = plan.get("precision") if isinstance(plan, dict) else None
    return (
        max(PRECISION_TARGET, float(asked)) if isinstance(asked, int | float) else PRECISION_TARGET
    )
