# SPDX-License-Identifier: Apache-2.0
"""What the effective bandwidth is averaged from: the rate over the length of the messages."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.numbers import span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.traffic import b_eff_curves
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.results.b_eff.average import PATTERN

KINDS = {"rings": "rings of neighbours", "random": "random orders"}
LEGEND = alt.Legend(title=None, symbolFillColor="gray", symbolStrokeColor="gray", symbolSize=110)


class BEffCurves(Panel[Facts]):
    title = "Bandwidth of all processes together"
    how_to_read = (
        "Higher is faster: the rate at which all processes together exchange messages with two "
        "neighbours, by the best method at each length; the further a dashed line lies below the "
        "solid one, the more it costs when neighbours are spread at random over the machine."
    )
    order = 71
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = b_eff_curves(facts)
        if points.is_empty():
            return None
        rows = _rows(points)
        names = sorted({row["series"] for row in rows})
        picked = common.highlight()
        rate_axis = common.log_axis("rate", "rate, all processes", rows, common.RATE_LABEL)
        kinds = alt.Scale(domain=list(KINDS.values()))
        base = alt.Chart().encode(
            x=common.size_axis("length of a message"), color=common.color(names)
        )
        band = base.mark_area().encode(
            y=alt.Y("low:Q", scale=common.LOG_SCALE),
            y2="high:Q",
            detail="kind:N",
            opacity=common.faded(picked, 0.16),
        )
        line = base.mark_line(strokeWidth=2).encode(
            y=rate_axis,
            strokeDash=alt.StrokeDash("kind:N", title=None, scale=kinds, legend=LEGEND),
            opacity=common.faded(picked, 1),
        )
        marks = base.mark_point(filled=True, size=38).encode(
            y=rate_axis,
            shape=alt.Shape("kind:N", title=None, scale=kinds, legend=LEGEND),
            opacity=common.faded(picked, 1),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("kind:N", title="neighbours"),
                alt.Tooltip("size:N", title="length"),
                alt.Tooltip("text:N", title="rate"),
                alt.Tooltip("interval:N", title="95 % interval of a launch"),
            ],
        )
        return (
            alt.layer(band, line, marks, data=common.data_of(rows))
            .add_params(picked)
            .properties(width="container", height=common.CHART_HEIGHT)
        )


def _rows(points: pl.DataFrame) -> list[Row]:
    return [
        {
            "series": row["series"],
            "kind": KINDS[row["kind"]],
            "bytes": row["bytes"],
            "size": format_size(row["bytes"]),
            "rate": common.digits(row["rate_Bps"]),
            "low": common.digits(common.drawn_low(row["low_Bps"], row["rate_Bps"])),
            "high": common.digits(common.drawn_high(row["high_Bps"], row["rate_Bps"])),
            "text": format_rate(row["rate_Bps"]),
            "interval": span(row["low_Bps"], row["high_Bps"], format_rate)
            if row["launches"] > 1
            else "none (needs several launches)",
        }
        for row in points.iter_rows(named=True)
    ]
