# SPDX-License-Identifier: Apache-2.0
"""The share of the time spent in barriers, by the work between them."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.grain import PATTERN, loops
from nhalf.present.charts import common
from nhalf.present.charts.lines import lines
from nhalf.present.panels import Panel


class Grain(Panel[Facts]):
    title = "Work between barriers"
    how_to_read = (
        "Every rank works for a while, then all wait for each other: the share of the time that is "
        "not work, over the length of the work; where a line is near 0, a faster barrier does not "
        "make the program faster."
    )
    order = 85
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = loops(facts, facts.summary).filter(pl.col("grain_s") > 0)
        rows = [
            {
                "series": row["series"],
                "kind": row["kind"],
                "grain": row["grain_s"],
                "work": format_time(row["grain_s"]),
                "share": common.digits(row["share"], 4),
                "barrier": format_time(row["median_s"] - row["grain_s"]),
            }
            for row in points.iter_rows(named=True)
        ]
        if not rows:
            return None
        ticks = common.log_ticks(row["grain"] for row in rows)
        axis = alt.Axis(values=ticks, labelExpr=common.TIME_LABEL, labelOverlap="greedy")
        names = sorted({str(row["series"]) for row in rows})
        return lines(
            rows,
            (
                alt.X("grain:Q", title="work", scale=common.LOG_SCALE, axis=axis),
                alt.Y(
                    "share:Q",
                    title="share of barriers",
                    scale=alt.Scale(domain=[0, 1]),
                    axis=alt.Axis(format=".0%"),
                ),
            ),
            sorted({str(row["kind"]) for row in rows}),
            ("series", names),
            [
                alt.Tooltip("kind:N", title="barrier"),
                alt.Tooltip("work:N", title="work"),
                alt.Tooltip("barrier:N", title="beyond the work"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
