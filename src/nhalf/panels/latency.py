# SPDX-License-Identifier: Apache-2.0
"""Time of one message against its size, all libraries in one picture."""

from __future__ import annotations

import altair as alt

from nhalf.panels import Panel, ReportData
from nhalf.panels import _common as common


class Latency(Panel):
    title = "Latency"
    how_to_read = (
        "Lower is faster: each line is one library, each mark the time of one message, the "
        "shaded band its 95 % interval over launches; both axes are logarithmic."
    )
    order = 10

    def render(self, data: ReportData) -> alt.TopLevelMixin | None:
        points = common.with_series(common.sound(data.summary), data)
        if points.is_empty():
            return None
        rows = common.time_rows(common.thin(points, ["series", "pattern"]))
        names = common.series_names(data)
        patterns = sorted({row["pattern"] for row in rows})
        picked = common.highlight()
        base = (
            alt.Chart()
            .transform_filter(common.only_shown())
            .encode(x=common.size_axis(), color=common.color(names))
        )
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
        band = base.mark_area().encode(
            y=alt.Y("low:Q", scale=alt.Scale(type="log")),
            y2="high:Q",
            opacity=common.faded(picked, 0.22),
        )
        bars = base.mark_rule(strokeWidth=2).encode(
            y="low:Q", y2="high:Q", opacity=common.faded(picked, 0.5)
        )
        line = base.mark_line(strokeWidth=2).encode(y=time_axis, opacity=common.faded(picked, 1))
        marks = base.mark_point(filled=True, size=42).encode(
            y=time_axis,
            shape=common.shape(names),
            opacity=common.faded(picked, 1),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("time:N", title="time"),
                alt.Tooltip("interval:N", title="95 % interval"),
                alt.Tooltip("launches:Q", title="launches"),
            ],
        )
        return (
            alt.layer(band, bars, line, marks, data=common.data_of(rows))
            .add_params(common.pattern_choice(patterns), picked)
            .properties(width="container", height=common.CHART_HEIGHT)
        )
