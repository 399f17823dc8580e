# SPDX-License-Identifier: Apache-2.0
"""Algorithms of collective operations against each other and against the library's own choice."""

from __future__ import annotations

import altair as alt

from nhalf.facts.collectives import algorithms
from nhalf.facts.facts import Facts
from nhalf.present.charts import common
from nhalf.present.charts.lines import lines
from nhalf.present.panels import Panel

OWN = "the library's own"


class Algorithms(Panel[Facts]):
    title = "Algorithms of collective operations"
    how_to_read = (
        "Lower is faster: each line is one algorithm, built from the library's sends and receives; "
        "where one of them lies below the library's own line, the library chose badly for that "
        "size and number of processes."
    )
    order = 53

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = algorithms(facts)
        if points.is_empty():
            return None
        shown = common.thin(points, ["series", "pattern", "kind"])
        rows = common.time_rows(shown)
        rows = [{**row, "kind": kind or OWN} for row, kind in zip(rows, shown["kind"], strict=True)]
        return lines(
            rows,
            axes=(
                common.size_axis(),
                common.log_axis("median", "completion time", rows, common.TIME_LABEL),
            ),
            kinds=[OWN, *sorted({row["kind"] for row in rows} - {OWN})],
            every_kind=False,
            facets=("series", sorted({row["series"] for row in rows})),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("kind:N", title="algorithm"),
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("time:N", title="time"),
                alt.Tooltip("interval:N", title="95 % interval"),
            ],
            choice=("pattern", "Operation"),
        )
