# SPDX-License-Identifier: Apache-2.0
"""Rate against message size, all libraries in one picture."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import plain, with_series
from nhalf.present.charts import common
from nhalf.present.charts.curves import curves
from nhalf.present.panels import Panel


class Bandwidth(Panel):
    title = "Bandwidth"
    how_to_read = (
        "Higher is faster: the bytes that arrive per second at each message size; where a line "
        "reaches half of its highest value is the library's n½."
    )
    order = 20

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = with_series(plain(facts.sound, facts), facts).filter(
            pl.col("bytes") > 0, pl.col("rate_Bps").is_not_null()
        )
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
        return curves(rows, facts, rate_axis, ends, tooltip)


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
