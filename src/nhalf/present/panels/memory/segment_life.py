# SPDX-License-Identifier: Apache-2.0
"""The cost of remote memory from creation to release, step by step."""

from __future__ import annotations

import altair as alt

from nhalf.base.numbers import percent
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.memory import SEGMENT_PARTS, SEGMENT_PATTERN, step_times
from nhalf.present.charts import common
from nhalf.present.panels import Panel


class SegmentLife(Panel[Facts]):
    title = "The life of a segment"
    how_to_read = (
        "One bar is the whole life of a segment of remote memory: setup (create, "
        "register, publish, connect, map), one transfer of all its bytes each way, and teardown: "
        "where setup and teardown fill most of the bar, segments should be kept and used again."
    )
    order = 36
    patterns = (SEGMENT_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = step_times(facts)
        if points.is_empty():
            return None
        sizes = [format_size(size) for size in sorted(set(points["bytes"]))]
        rows = [
            {
                "series": row["series"],
                "size": format_size(row["bytes"]),
                "part": row["part"],
                "step": row["step"],
                "place": row["place"],
                "share": common.digits(row["share"], 4),
                "percent": percent(row["share"]),
                "time": format_time(row["time_s"]),
            }
            for row in points.iter_rows(named=True)
        ]
        names = sorted({row["series"] for row in rows})
        bars = (
            alt.Chart()
            .mark_bar(stroke="white", strokeWidth=0.5)
            .encode(
                x=alt.X("size:N", sort=sizes, title="segment size"),
                y=alt.Y(
                    "share:Q",
                    title="share of a segment's life",
                    axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1]),
                ),
                color=alt.Color("part:N", title=None, scale=alt.Scale(domain=list(SEGMENT_PARTS))),
                order=alt.Order("place:Q"),
                tooltip=[
                    alt.Tooltip("step:N", title="step"),
                    alt.Tooltip("time:N", title="takes"),
                    alt.Tooltip("percent:N", title="share"),
                    alt.Tooltip("size:N", title="segment"),
                ],
            )
        )
        return (
            alt.layer(bars, data=common.data_of(rows))
            .properties(width=common.FACET_WIDTH, height=common.FACET_HEIGHT)
            .facet(alt.Facet("series:N", title=None, sort=names), columns=2)
        )
