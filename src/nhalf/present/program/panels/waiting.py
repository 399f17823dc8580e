# SPDX-License-Identifier: Apache-2.0
"""What each rank waits for."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.units import format_time
from nhalf.facts.program.program import Program
from nhalf.facts.program.waiting import waiting_by_cause
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.program.ranks import places_of

CAUSES = ("late sender", "late receiver", "collective", "completion")


class Waiting(Panel[Program]):
    title = "Waiting"
    how_to_read = (
        "Each bar is the time that a rank waits: for messages sent late, for late receivers, "
        "in collective operations for the last rank to arrive, or in MPI_Wait and its family "
        "for messages to complete; the rank with the lowest bar is the one that others wait for."
    )
    order = 40

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        if waiting_by_cause(program).is_empty():
            return None
        summed = (
            waiting_by_cause(program)
            .join(places_of(program.ranks), on="rank")
            .group_by("place", "ranks", "members", "cause")
            .agg(pl.col("waiting_s").sum())
            .sort("place", "cause")
        )
        rows = [
            {
                "place": row["place"],
                "rank": row["ranks"],
                "cause": row["cause"],
                "seconds": common.digits(row["waiting_s"] / row["members"]),
                "time": format_time(row["waiting_s"] / row["members"]),
            }
            for row in summed.iter_rows(named=True)
        ]
        shown = [cause for cause in CAUSES if cause in set(summed["cause"])]
        axis = alt.Axis(labelExpr=common.TIME_LABEL)
        chart: alt.Chart = (
            alt.Chart(common.data_of(rows))
            .mark_bar()
            .encode(
                x=alt.X("place:O", title="rank", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
                y=alt.Y("seconds:Q", title="waiting", axis=axis),
                color=alt.Color("cause:N", title=None, scale=alt.Scale(domain=shown), sort=shown),
                tooltip=[
                    alt.Tooltip("rank:N", title="rank"),
                    alt.Tooltip("cause:N", title="for"),
                    alt.Tooltip("time:N", title="waiting"),
                ],
            )
            .properties(width="container", height=common.CHART_HEIGHT)
        )
        return chart
