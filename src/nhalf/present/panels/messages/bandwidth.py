# SPDX-License-Identifier: Apache-2.0
"""Rate against message size, all libraries in one picture."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.facts.facts import Facts
from nhalf.facts.overview import half_rates
from nhalf.facts.series import plain_points
from nhalf.present.charts import common
from nhalf.present.charts.curves import curves
from nhalf.present.charts.elsewhere import elsewhere_points
from nhalf.present.panels import Panel
from nhalf.present.wording import n_half_text


class Bandwidth(Panel[Facts]):
    title = "Bandwidth"
    how_to_read = (
        "Higher is faster: the bytes that arrive per second at each message size; a diamond marks "
        "n½, the size at which a library reaches half of its highest rate."
    )
    order = 20

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = plain_points(facts).filter(pl.col("bytes") > 0, pl.col("rate_Bps").is_not_null())
        if points.is_empty():
            return None
        rows = _rate_rows(common.thin(points, ["series", "pattern"]))
        rate_axis = alt.Y(
            "median_rate:Q",
            title="rate",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(labelExpr=common.RATE_LABEL, tickCount=6),
        )
        ends = (alt.Y("low_rate:Q"), "high_rate:Q")
        tooltip = [
            alt.Tooltip("rate:N", title="rate"),
            alt.Tooltip("time:N", title="time"),
            alt.Tooltip("interval:N", title="95 % interval of the time"),
        ]
        drawn = (rate_axis, "rate_Bps")
        elsewhere = elsewhere_points(points, facts).filter(pl.col("rate_Bps").is_not_null())
        chart = curves(
            rows, facts, drawn, elsewhere, ends, tooltip, lambda color: _half_rates(facts, color)
        )
        return chart.properties(usermeta={"log": ["median_rate"]})


def _half_rates(facts: Facts, color: alt.Color) -> list[alt.Chart]:
    """A diamond at half of the highest rate of each curve, and its stem."""
    rows = [
        {
            **{"series": row["series"], "pattern": row["pattern"]},
            **{"bytes": row["n_half_bytes"], "median_rate": row["half_Bps"]},
            **{"n_half": n_half_text(row["n_half_bytes"]), "half": format_rate(row["half_Bps"])},
        }
        for row in half_rates(facts)
    ]
    if not rows:
        return []
    base = (
        alt.Chart(alt.InlineData(values=rows, name="half-rates"))
        .transform_filter(common.only_shown())
        .encode(
            x=common.size_axis(),
            y=alt.Y("median_rate:Q"),
            color=color,
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("n_half:N", title="n½"),
                alt.Tooltip("half:N", title="half of the highest rate"),
            ],
        )
    )
    stem = base.mark_rule(strokeDash=[2, 3], opacity=0.8).encode(y2=alt.value("height"))
    return [stem, base.mark_point(shape="diamond", size=130, strokeWidth=2)]


HEADROOM = 1.15
"""How far above a pattern's highest rate an interval is drawn: a clock hiccup would flatten all."""


def _rate_rows(points: pl.DataFrame) -> list[Row]:
    points = points.with_columns(most=HEADROOM * pl.col("rate_Bps").max().over("pattern"))
    rows = common.time_rows(points)
    for row, point in zip(rows, points.iter_rows(named=True), strict=True):
        rate = point["rate_Bps"]
        high = common.drawn_high(point["rate_high_Bps"], rate)
        for name in ("median", "low", "high"):
            del row[name]
        row["median_rate"] = common.digits(rate)
        row["high_rate"] = common.digits(min(high, point["most"]))
        row["low_rate"] = common.digits(common.drawn_low(point["rate_low_Bps"], rate))
    return rows
