# SPDX-License-Identifier: Apache-2.0
"""How the time of collective operations grows with the number of ranks."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.collectives import by_ranks
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.lines import some_sizes
from nhalf.present.panels import Panel

SIZES_SHOWN = 4


class CollectivesByRanks(Panel[Facts]):
    title = "Collective operations by number of ranks"
    how_to_read = (
        "How much longer an operation takes when more processes take part: each line is one "
        "library at one message size; a line that rises steeply marks an operation that will hurt "
        "on a larger machine."
    )
    order = 52

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = by_ranks(facts)
        if points.is_empty():
            return None
        rows = _rows(points)
        patterns = sorted({row["pattern"] for row in rows})
        names = sorted({row["series"] for row in rows})
        ranks = sorted({row["ranks"] for row in rows})
        time_axis = common.log_axis("median", "completion time", rows, common.TIME_LABEL)
        base = (
            alt.Chart(common.data_of(rows))
            .transform_filter(common.only_shown())
            .encode(
                x=alt.X(
                    "ranks:Q",
                    title="ranks",
                    scale=alt.Scale(type="log", base=2, nice=False),
                    axis=alt.Axis(values=ranks, format="d"),
                ),
                y=time_axis,
                color=common.color(names),
                detail="size:N",
            )
        )
        tooltip = [
            alt.Tooltip("series:N", title="library"),
            alt.Tooltip("ranks:Q", title="ranks"),
            alt.Tooltip("size:N", title="size"),
            alt.Tooltip("time:N", title="time"),
            alt.Tooltip("interval:N", title="95 % interval"),
        ]
        line = base.mark_line(strokeWidth=2).encode(
            strokeDash=alt.StrokeDash(
                "size:N", title="size", sort=list(dict.fromkeys(row["size"] for row in rows))
            )
        )
        marks = base.mark_point(filled=True, size=42).encode(
            shape=common.shape(names), tooltip=tooltip
        )
        return (
            alt.layer(line, marks)
            .add_params(common.pattern_choice(patterns))
            .properties(width="container", height=common.CHART_HEIGHT)
        )


def _rows(points: pl.DataFrame) -> list[Row]:
    """A few sizes of each operation, from the smallest to the largest."""
    shown = pl.concat(
        operation.filter(
            pl.col("bytes").is_in(some_sizes(operation["bytes"].to_list(), SIZES_SHOWN))
        )
        for _, operation in points.group_by("pattern", maintain_order=True)
    ).sort("pattern", "bytes", "series", "ranks")
    rows = common.time_rows(shown)
    return [{**row, "ranks": ranks} for row, ranks in zip(rows, shown["ranks"], strict=True)]
