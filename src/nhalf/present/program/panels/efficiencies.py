# SPDX-License-Identifier: Apache-2.0
"""The tree of efficiencies: how much of the ranks' time is computing, and where the rest goes."""

from __future__ import annotations

import altair as alt

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.decide.program.efficiency import Efficiency, efficiency
from nhalf.facts.program.program import Program
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.report.themes import ON_COLOR

KEPT, LOST = "used", "lost"
DEPTH = "› "
LABEL_WIDTH = 150
ROW_HEIGHT = 34


class Efficiencies(Panel[Program]):
    title = "Efficiency"
    how_to_read = (
        "The first bar is the share of the ranks' time in which they compute; the bars below are "
        "its factors, and the lowest of them says what to do first: balance the work, send results "
        "earlier (serialisation), or make messages faster (transfer)."
    )
    order = 2

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        tree = None if program.calls.is_empty() else efficiency(program)
        if tree is None:
            return None
        rows = _rows(tree)
        names = list(dict.fromkeys(str(row["name"]) for row in rows))
        axis = alt.Axis(
            labelLimit=260,
            labelFontSize=13,
            title=None,
            labelAlign="left",
            labelPadding=LABEL_WIDTH,
        )
        y = alt.Y("name:N", sort=names, axis=axis)
        bars = (
            alt.Chart(common.data_of(rows))
            .mark_bar(height={"band": 0.7})
            .encode(
                x=alt.X(
                    "share:Q",
                    title=None,
                    axis=alt.Axis(format="%"),
                    stack="zero",
                    scale=alt.Scale(domain=[0, 1], nice=False),
                ),
                y=y,
                color=alt.Color(
                    "part:N", title=None, scale=alt.Scale(domain=[KEPT, LOST]), sort=[KEPT, LOST]
                ),
                order=alt.Order("place:Q"),
                tooltip=[
                    alt.Tooltip("name:N", title="efficiency"),
                    alt.Tooltip("meaning:N", title="is"),
                    alt.Tooltip("text:N", title="share"),
                ],
            )
        )
        labels = (
            alt.Chart(common.data_of([row for row in rows if row["part"] == KEPT]))
            .mark_text(style=ON_COLOR, align="left", dx=8, fontWeight=600, fontSize=13)
            .encode(x=alt.datum(0), y=y, text="text:N")
        )
        return alt.layer(bars, labels).properties(
            width="container", height=max(210, ROW_HEIGHT * len(names))
        )


def _rows(tree: Efficiency) -> list[Row]:
    """Two rows per efficiency: what is used of its time, and what is lost."""
    factors = [
        (0, "Parallel efficiency", tree.parallel_share, "computing over the run time, mean"),
        (1, "Load balance", tree.load_balance_share, "mean over largest computing of a rank"),
        (1, "Communication", tree.communication_share, "largest computing over the run time"),
        (2, "Serialisation", tree.serialisation_share, "the same on an ideal network"),
        (2, "Transfer", tree.transfer_share, "run time on an ideal network over the run time"),
    ]
    rows: list[Row] = []
    for depth, name, share, meaning in factors:
        if share is None:
            continue
        shown = {"name": DEPTH * depth + name, "meaning": meaning, "text": percent(share)}
        for place, (part, value) in enumerate(((KEPT, share), (LOST, max(0.0, 1 - share)))):
            rows.append({**shown, "place": place, "part": part, "share": common.digits(value)})
    return rows
