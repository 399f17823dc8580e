# SPDX-License-Identifier: Apache-2.0
"""Waiting, by the rank that caused it."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.units import format_time
from nhalf.facts.program.delays import delays
from nhalf.facts.program.program import Program
from nhalf.facts.program.states import COMPUTING, IN_MPI, NO_PROCESSOR, STATES
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.program.ranks import places_of

DOING = {"computing_s": COMPUTING, "in_mpi_s": IN_MPI, "taken_s": NO_PROCESSOR}


class Delays(Panel[Program]):
    title = "Who makes others wait"
    how_to_read = (
        "Each bar is the time that other ranks wait because of a rank, directly or through ranks "
        "that wait themselves, coloured by what it does meanwhile: a tall bar is a rank to give "
        "less work, or one whose processor others have."
    )
    order = 6

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        caused = delays(program)
        if caused.is_empty() or caused["waiting_s"].sum() <= 0:
            return None
        summed = (
            caused.join(places_of(program.ranks), on="rank")
            .unpivot(list(DOING), index=["place", "ranks"], variable_name="doing")
            .group_by("place", "ranks", "doing")
            .agg(pl.col("value").sum())
            .sort("place", "doing")
        )
        rows = [
            {
                "place": row["place"],
                "rank": row["ranks"],
                "doing": DOING[row["doing"]],
                "seconds": common.digits(row["value"]),
                "time": format_time(row["value"]),
            }
            for row in summed.iter_rows(named=True)
            if row["value"] > 0
        ]
        shown = [name for name in DOING.values() if any(row["doing"] == name for row in rows)]
        chart: alt.Chart = (
            alt.Chart(common.data_of(rows))
            .mark_bar()
            .encode(
                x=alt.X("place:O", title="rank", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
                y=alt.Y(
                    "seconds:Q",
                    title="waiting of others",
                    axis=alt.Axis(labelExpr=common.TIME_LABEL),
                ),
                color=alt.Color(
                    "doing:N",
                    title=None,
                    scale=alt.Scale(domain=list(STATES)),
                    sort=list(DOING.values()),
                    legend=alt.Legend(values=shown),
                ),
                tooltip=[
                    alt.Tooltip("rank:N", title="rank"),
                    alt.Tooltip("doing:N", title="meanwhile"),
                    alt.Tooltip("time:N", title="waiting of others"),
                ],
            )
            .properties(width="container", height=common.CHART_HEIGHT - 100)
        )
        return chart
