# SPDX-License-Identifier: Apache-2.0
"""Messages and bytes over time, with the phases that were found."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_time
from nhalf.facts.program.program import Program
from nhalf.facts.program.rate import rate_phases, rates_over_time
from nhalf.present.charts import common
from nhalf.present.panels import Panel

KINDS = {"sent": "messages sent", "collective": "collective calls", "one-sided": "one-sided"}
CALLS, BYTES = "calls per second", "bytes per second"
_LABEL = "replace(format(datum.value, '~s'), /([a-zµ]?)$/i, ' $1')"


class OverTime(Panel[Program]):
    title = "Rate over time"
    how_to_read = (
        "How many messages and collective calls all ranks together issue in each moment of the "
        "run; dashed lines part the phases, in which the rate of both together is about the same."
    )
    order = 50

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        rows = _rows(program)
        if not rows:
            return None
        axis = alt.Axis(labelExpr=common.TIME_LABEL, labelOverlap="greedy", labelSeparation=12)
        kinds = [name for name in KINDS.values() if any(row["kind"] == name for row in rows)]
        lines = (
            alt.Chart(common.data_of(rows))
            .transform_filter("datum.measure === chosen")
            .mark_area(interpolate="step-after", line={"strokeWidth": 1.5}, fillOpacity=0.25)
            .encode(
                x=alt.X("time:Q", title="time", axis=axis),
                y=alt.Y("rate:Q", title="rate", stack=None, axis=alt.Axis(labelExpr=_LABEL)),
                color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds),
                tooltip=[
                    alt.Tooltip("at:N", title="at"),
                    alt.Tooltip("kind:N", title="what"),
                    alt.Tooltip("rate:Q", title="calls per second", format=".3s"),
                    alt.Tooltip("bytes_text:N", title="bytes"),
                ],
            )
        )
        borders = [{"border": common.digits(row["start_s"])} for row in rate_phases(program)[1:]]
        rules = alt.Chart(common.data_of(borders)).mark_rule(strokeDash=[4, 4]).encode(x="border:Q")
        layers = (lines, rules) if borders else (lines,)
        return (
            alt.layer(*layers)
            .add_params(common.choice("chosen", [CALLS, BYTES], CALLS, "Show"))
            .properties(width="container", height=common.CHART_HEIGHT)
        )


def _rows(program: Program) -> list[Row]:
    """Each bin of each kind that occurs, once for each measure."""
    bins = rates_over_time(program)
    rows = []
    for row in bins.filter(bins["kind"].is_in(list(KINDS))).iter_rows(named=True):
        seconds = row["width_s"]
        for measure, name in ((CALLS, "messages"), (BYTES, "bytes")):
            rows.append(
                {
                    "measure": measure,
                    "kind": KINDS[row["kind"]],
                    "time": common.digits(row["start_s"]),
                    "at": format_time(row["start_s"]),
                    "rate": common.digits(row[name] / seconds, 4),
                    "bytes_text": format_rate(row["bytes"] / seconds),
                }
            )
    return rows
