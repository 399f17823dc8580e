# SPDX-License-Identifier: Apache-2.0
"""How the run time grows with a slower network."""

from __future__ import annotations

import altair as alt

from nhalf.base.numbers import percent, share_span
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.decide.program.basis import is_disturbed, traced_run
from nhalf.decide.program.tolerance_curves import network_curves
from nhalf.facts.program.program import Program
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.program.tolerance import TITLES

_SHARE = "format(datum.value, '.0%')"


class Tolerance(Panel[Program]):
    title = "How much it tolerates"
    how_to_read = (
        "How much longer the run takes if each message had so much more latency, overhead or time "
        "per byte: replays of the timeline, with their interval. Where a curve is flat the program "
        "waits for something else; where it bends, another path becomes the longest."
    )
    order = 45

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        rows = _rows(program)
        if not rows:
            return None
        names = list(dict.fromkeys(str(row["what"]) for row in rows))
        axis = alt.Axis(labelExpr=common.TIME_LABEL, labelOverlap="greedy", labelSeparation=12)
        base = (
            alt.Chart(common.data_of(rows))
            .transform_filter("datum.what === chosen")
            .encode(x=alt.X("added:Q", title="added", axis=axis))
        )
        title, form = "run time lost", alt.Axis(labelExpr=_SHARE)
        band = base.mark_area(fillOpacity=0.25).encode(
            y=alt.Y("low:Q", title=title, axis=form), y2="high:Q"
        )
        line = base.mark_line(point=True).encode(
            y=alt.Y("lost:Q", title=title, axis=form),
            tooltip=[
                alt.Tooltip("added_text:N", title="added"),
                alt.Tooltip("lost_text:N", title="lost"),
                alt.Tooltip("interval:N", title="interval"),
            ],
        )
        return (
            alt.layer(band, line)
            .add_params(common.choice("chosen", names, names[0], "Grows"))
            .properties(width="container", height=common.CHART_HEIGHT)
        )


def _rows(program: Program) -> list[Row]:
    """Each point of each curve, as shares of the measured time."""
    rows: list[Row] = []
    if is_disturbed(program):
        return rows
    for curve in network_curves(traced_run(program)):
        for point in curve.points:
            lost, low, high = (
                end_s / curve.measured_s - 1 for end_s in (point.time_s, point.low_s, point.high_s)
            )
            rows.append(
                {
                    "what": TITLES[curve.parameter],
                    "added": common.digits(point.added),
                    "added_text": format_time(point.added),
                    "lost": common.digits(lost),
                    "low": common.digits(low),
                    "high": common.digits(high),
                    "lost_text": percent(lost, 1),
                    "interval": share_span(low, high),
                }
            )
    return rows
