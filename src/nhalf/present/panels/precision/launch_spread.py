# SPDX-License-Identifier: Apache-2.0
"""How far the launches of one point lie apart, by size."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.certainty.precision import POINT, deviations
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.panels import Panel

LAUNCHES_MAX, LAUNCHES_MIN = 24, 6
"""More launches than the first are thinned to evenly spaced ones per point; the spread stays whole.

Several patterns share them, but each keeps the second.
"""

USUAL_FACTOR = 1.8
"""The axis reaches this many times what nine in ten launches stay below."""


class LaunchSpread(Panel[Facts]):
    title = "Spread between launches"
    how_to_read = (
        "Each dot is one launch, placed by the deviation of its median from the median of all "
        "launches at that size: tight columns around 0 % mean that a single run can be trusted, "
        "and dots at an edge lie further out."
    )
    order = 42

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = deviations(facts)
        if points.is_empty():
            return None
        points = _some(common.thin(points, ["series", "pattern"]))
        patterns = sorted(points["pattern"].unique())
        names = series_names(facts)
        base = (
            alt.Chart()
            .transform_filter(common.only_shown())
            .encode(
                x=common.size_axis(),
                color=alt.Color("series:N", scale=alt.Scale(domain=names), legend=None),
            )
        )
        deviation = alt.Y(
            "deviation:Q",
            title="from the median launch",
            scale=alt.Scale(domain=_range(points), nice=False, clamp=True),
            axis=alt.Axis(labelExpr="format(datum.value * 100, '+~r') + ' %'", tickCount=6),
        )
        span = base.mark_rule(strokeWidth=6, opacity=0.16).encode(
            y="min(deviation):Q", y2="max(deviation):Q"
        )
        dots = base.mark_point(filled=True, size=22, opacity=0.75).encode(
            y=deviation,
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("launch:Q", title="launch"),
                alt.Tooltip("time:N", title="median of the launch"),
                alt.Tooltip("deviation:Q", title="from the median", format="+.1%"),
            ],
        )
        shown = set(points["series"].to_list())
        return (
            alt.layer(span, dots, data=common.data_of(_rows(points)))
            .properties(width=common.FACET_WIDTH, height=common.FACET_HEIGHT)
            .facet(
                alt.Facet("series:N", title=None, sort=[name for name in names if name in shown]),
                columns=2,
            )
            .add_params(common.pattern_choice(patterns))
        )


def _range(points: pl.DataFrame) -> list[float]:
    """Choose the ends of the axis: most deviations, without the one launch that was far slower."""
    deviations = sorted(points["deviation"].abs().to_list())
    usual = deviations[len(deviations) * 9 // 10]
    reach = max(0.02, min(USUAL_FACTOR * usual, deviations[-1]))
    return [-min(1.0, float(f"{reach:.2g}")), float(f"{reach:.2g}")]


def _some(points: pl.DataFrame) -> pl.DataFrame:
    """A part of the launches of each size, with the outermost."""
    deviation = pl.col("deviation")
    most = max(LAUNCHES_MIN, LAUNCHES_MAX // max(1, points["pattern"].n_unique()))
    step = (pl.len().over(POINT) / most).ceil()
    return points.filter(
        (pl.int_range(pl.len()).over(POINT) % step == 0)
        | (deviation == deviation.min().over(POINT))
        | (deviation == deviation.max().over(POINT))
    )


def _rows(points: pl.DataFrame) -> list[Row]:
    return [
        {
            "series": row["series"],
            "pattern": row["pattern"],
            "bytes": row["bytes"],
            "size": format_size(row["bytes"]),
            "launch": row["launch"],
            "time": format_time(row["median_s"]),
            "deviation": common.digits(row["deviation"], 4),
        }
        for row in points.iter_rows(named=True)
    ]
