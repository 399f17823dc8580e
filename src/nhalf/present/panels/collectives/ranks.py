# SPDX-License-Identifier: Apache-2.0
"""When each rank finishes a collective operation."""

from __future__ import annotations

import math

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.collectives import finishing
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.panels import Panel

RANKS_SHOWN = 64


class Ranks(Panel[Facts]):
    title = "Who finishes when"
    how_to_read = (
        "Each mark is one process: the share of the whole operation's time after which it may "
        "continue; marks far below 100 % are processes that leave early, so that an average "
        "over processes would flatter the operation."
    )
    order = 60

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = finishing(facts)
        if points.is_empty():
            return None
        names = series_names(facts)
        rows = _rows(common.thin(points, ["series", "pattern"]))
        patterns = sorted({row["pattern"] for row in rows})
        series = {row["series"] for row in rows}
        marks = (
            alt.Chart()
            .mark_tick(thickness=3, size=9, opacity=0.75)
            .encode(
                x=common.size_axis(),
                y=alt.Y(
                    "share:Q",
                    title="of the operation's time",
                    axis=alt.Axis(format="%"),
                    scale=alt.Scale(domainMin=0),
                ),
                color=_rank_color(max(row["rank"] for row in rows)),
                tooltip=[
                    alt.Tooltip("series:N", title="library"),
                    alt.Tooltip("rank:Q", title="rank"),
                    alt.Tooltip("size:N", title="size"),
                    alt.Tooltip("time:N", title="its time"),
                ],
            )
        )
        return (
            alt.layer(marks, data=common.data_of(rows))
            .properties(width=common.FACET_WIDTH, height=common.FACET_HEIGHT)
            .facet(
                alt.Facet("series:N", title=None, sort=[name for name in names if name in series]),
                columns=2,
            )
            .transform_filter(common.only_shown())
            .add_params(common.pattern_choice(patterns))
        )


def _rank_color(last: int) -> alt.Color:
    """Colour by rank, with at most five integers on the legend."""
    step = max(1, math.ceil(last / 4))
    legend = alt.Legend(format="d", values=list(range(0, last + 1, step)))
    # The domain of all patterns: the legend's values would lie beyond that of a smaller one.
    scale = alt.Scale(scheme="viridis", domain=[0, max(1, last)])
    return alt.Color("rank:Q", title="rank", scale=scale, legend=legend)


def _rows(points: pl.DataFrame) -> list[Row]:
    rows = []
    for row in points.to_dicts():
        times = row["rank_s"]
        step = max(1, len(times) // RANKS_SHOWN)
        for rank in range(0, len(times), step):
            rows.append(
                {
                    "series": row["series"],
                    "pattern": row["pattern"],
                    "bytes": row["bytes"],
                    "size": format_size(row["bytes"]),
                    "rank": rank,
                    "share": common.digits(row["shares"][rank], 3),
                    "time": format_time(times[rank]),
                }
            )
    return rows
