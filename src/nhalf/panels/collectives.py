# SPDX-License-Identifier: Apache-2.0
"""Completion time of collective operations against their size."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.panels import Panel, ReportData
from nhalf.panels import _common as common
from nhalf.panels._collectives import standard
from nhalf.panels._curves import curves


class Collectives(Panel):
    title = "Collective operations"
    how_to_read = (
        "Lower is faster: the time from the moment when the first process starts the operation to "
        "the moment when the last one has finished it; all start together on synchronised clocks, "
        "and the band is the 95 % interval over launches."
    )
    order = 50

    def render(self, data: ReportData) -> alt.TopLevelMixin | None:
        points = common.sound(standard(data.summary)).filter(pl.col("pattern") != "barrier")
        if points.is_empty():
            return None
        series = common.with_series(points, data)
        rows = common.time_rows(common.thin(series, ["series", "pattern"]))
        time_axis = alt.Y(
            "median:Q",
            title="completion time",
            scale=alt.Scale(type="log", nice=False, padding=8),
            axis=alt.Axis(
                values=common.log_ticks(row["median"] for row in rows),
                labelExpr=common.TIME_LABEL,
                labelOverlap="greedy",
            ),
        )
        ends = (alt.Y("low:Q", scale=alt.Scale(type="log")), "high:Q")
        tooltip = [
            alt.Tooltip("time:N", title="time"),
            alt.Tooltip("interval:N", title="95 % interval"),
            alt.Tooltip("launches:Q", title="launches"),
        ]
        return curves(rows, data, time_axis, ends, tooltip)
