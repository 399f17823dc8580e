# SPDX-License-Identifier: Apache-2.0
"""How the time of collective operations grows with the number of ranks."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.panels import Panel, ReportData
from nhalf.panels import _common as common
from nhalf.panels._collectives import standard
from nhalf.units import format_size

SIZES_SHOWN = 4


class CollectivesByRanks(Panel):
    title = "Collective operations by number of ranks"
    how_to_read = (
        "How much longer an operation takes when more processes take part: each line is one "
        "library at one message size; a line that rises steeply marks an operation that will hurt "
        "on a larger machine."
    )
    order = 52

    def render(self, data: ReportData) -> alt.TopLevelMixin | None:
        points = common.sound(standard(data.summary))
        several = pl.col("ranks").n_unique().over("mpi", "transport", "pattern", "bytes") > 1
        points = points.filter(several)
        if points.is_empty():
            return None
        rows = _rows(points, data)
        patterns = sorted({row["pattern"] for row in rows})
        names = sorted({row["series"] for row in rows})
        ranks = sorted({row["ranks"] for row in rows})
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


def _rows(points: pl.DataFrame, data: ReportData) -> list[common.Row]:
    """A few sizes of each operation, from the smallest to the largest."""
    labelled = points.with_columns(
        series=pl.Series(
            [
                common.library_label(data, transport, mpi)
                for transport, mpi in points.select("transport", "mpi").iter_rows()
            ],
            dtype=pl.String,
        )
    )
    rows = []
    for (_,), frame in labelled.group_by("pattern", maintain_order=True):
        sizes = frame["bytes"].unique().sort().to_list()
        step = max(1, (len(sizes) - 1) / (SIZES_SHOWN - 1))
        shown = {sizes[min(round(i * step), len(sizes) - 1)] for i in range(SIZES_SHOWN)}
        for row in frame.filter(pl.col("bytes").is_in(shown)).sort("bytes").to_dicts():
            drawn = common.time_rows(pl.DataFrame([row], schema=frame.schema))[0]
            rows.append({**drawn, "ranks": row["ranks"], "size": format_size(row["bytes"])})
    return rows
