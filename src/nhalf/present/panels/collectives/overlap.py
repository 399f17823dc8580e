# SPDX-License-Identifier: Apache-2.0
"""How much of a non-blocking operation passes while the program computes."""

from __future__ import annotations

import altair as alt

from nhalf.base.units import format_size, format_time
from nhalf.facts.collectives import overlaps
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.panels import Panel


class Overlap(Panel[Facts]):
    title = "Overlap with computing"
    how_to_read = (
        "Higher is better: 100 % means that a non-blocking operation costs nothing while the "
        "program computes, 0 % that the library does all its work in the waiting call, so that "
        "nothing is gained."
    )
    order = 62

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = overlaps(facts)
        if points.is_empty():
            return None
        rows = [
            {
                "series": row["series"],
                "pattern": row["pattern"],
                "bytes": row["bytes"],
                "size": format_size(row["bytes"]),
                "overlap": common.digits(row["overlap"], 3),
                "pure": "–" if row["pure_s"] is None else format_time(row["pure_s"]),
                "total": format_time(row["median_s"]),
            }
            for row in common.thin(points, ["series", "pattern"]).to_dicts()
        ]
        names = sorted({row["series"] for row in rows})
        base = (
            alt.Chart(common.data_of(rows))
            .transform_filter(common.only_shown())
            .encode(
                x=common.size_axis(),
                y=alt.Y(
                    "overlap:Q",
                    title="hidden behind computing",
                    axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1]),
                ),
                color=common.color(names),
            )
        )
        marks = base.mark_point(filled=True, size=42).encode(
            shape=common.shape(names),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("overlap:Q", title="hidden", format=".0%"),
                alt.Tooltip("pure:N", title="operation alone"),
                alt.Tooltip("total:N", title="with computing"),
            ],
        )
        patterns = sorted({row["pattern"] for row in rows})
        return (
            alt.layer(base.mark_line(strokeWidth=2), marks)
            .add_params(common.pattern_choice(patterns))
            .properties(width="container", height=common.CHART_HEIGHT)
        )
