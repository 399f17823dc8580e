# SPDX-License-Identifier: Apache-2.0
"""Time of each rank inside MPI, by call."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.units import format_time
from nhalf.facts.program.program import Program
from nhalf.facts.program.threads import threads_by_rank
from nhalf.facts.program.time_in_mpi import time_by_call
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.program.ranks import places_of

CALLS_MAX = 5
OTHERS = "other calls"


class TimeInMpi(Panel[Program]):
    title = "Time in MPI"
    how_to_read = (
        "Each bar is a rank, its parts the calls in which it spends the time of the run; what is "
        "missing up to 100 % is computing. Bars of different heights mean that the work is not "
        "shared equally: ranks that finish early wait inside MPI."
    )
    order = 30

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        if time_by_call(program).is_empty() or program.elapsed_s <= 0:
            return None
        calls = time_by_call(program)
        totals = calls.group_by("call").agg(pl.col("time_s").sum()).sort("time_s", descending=True)
        shown = totals["call"].head(CALLS_MAX).to_list()
        name = pl.when(pl.col("call").is_in(shown)).then("call").otherwise(pl.lit(OTHERS))
        places = places_of(program.ranks)
        summed = (
            calls.with_columns(call=name)
            .join(places, on="rank")
            .group_by("place", "ranks", "call")
            .agg(pl.col("count", "time_s").sum())
            .join(_threads(program, places), on="place")
            .with_columns(each_s=pl.col("time_s") / pl.col("threads"))
            .sort("place", "call")
        )
        rows = [
            {
                "place": row["place"],
                "rank": row["ranks"],
                "call": row["call"],
                "count": row["count"],
                "share": common.digits(min(1.0, row["each_s"] / program.elapsed_s)),
                "time": format_time(row["each_s"]),
            }
            for row in summed.iter_rows(named=True)
        ]
        kinds = [*shown, OTHERS] if any(row["call"] == OTHERS for row in rows) else shown
        return _bars(rows, kinds)


def _threads(program: Program, places: pl.DataFrame) -> pl.DataFrame:
    """How many threads of a place call MPI."""
    threads = threads_by_rank(program).join(places, on="rank")
    return threads.group_by("place").agg(pl.col("threads").sum())


def _bars(rows: list[dict[str, object]], kinds: list[str]) -> alt.TopLevelMixin:
    chart: alt.Chart = (
        alt.Chart(common.data_of(rows))
        .mark_bar()
        .encode(
            x=alt.X("place:O", title="rank", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=alt.Y("share:Q", title="share of the run", axis=alt.Axis(format="%")),
            color=alt.Color("call:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds),
            tooltip=[
                alt.Tooltip("rank:N", title="rank"),
                alt.Tooltip("call:N", title="call"),
                alt.Tooltip("count:Q", title="calls"),
                alt.Tooltip("time:N", title="time"),
                alt.Tooltip("share:Q", title="of the run", format=".1%"),
            ],
        )
        .properties(width="container", height=common.CHART_HEIGHT)
    )
    return chart
