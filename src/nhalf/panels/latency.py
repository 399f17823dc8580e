# SPDX-License-Identifier: Apache-2.0
"""Time of one message against its size, all libraries in one picture."""

from __future__ import annotations

import altair as alt

from nhalf.panels import Panel, ReportData
from nhalf.panels import _common as common
from nhalf.panels._curves import curves


class Latency(Panel):
    title = "Latency"
    how_to_read = (
        "Lower is faster: each line is one library, each mark the time of one message, the "
        "shaded band its 95 % interval over launches; both axes are logarithmic."
    )
    order = 10

    def render(self, data: ReportData) -> alt.TopLevelMixin | None:
        points = common.with_series(common.sound(common.plain(data.summary, data)), data)
        if points.is_empty():
            return None
        rows = common.time_rows(common.thin(points, ["series", "pattern"]))
        time_axis = alt.Y(
            "median:Q",
            title="time of one message",
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
