"""A line per library over the message size, with its interval as a band: time or rate alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.present.charts import common
from nhalf.present.charts.elsewhere import elsewhere_layers, elsewhere_points
from nhalf.present.charts.overlay import names_with_overlay, overlay_layers, overlay_rows


def time_curves(points: pl.DataFrame, facts: Facts, title: str) -> alt.TopLevelMixin | None:
    """The times of sound `points` on an axis called `title`; None if there are no points."""
    if points.is_empty():
        return None
    series = with_series(points, facts)
    rows = common.time_rows(common.thin(series, ["series", "pattern"]))
    return curves(
        rows,
        facts,
        (common.log_axis("median", title, rows, common.TIME_LABEL), "median_s"),
        elsewhere_points(series, facts),
        ends=(alt.Y("low:Q", scale=alt.Scale(type="log")), "high:Q"),
        tooltip=common.tooltip(rows, time="time", interval="95 % interval", launches="launches"),
    )


def curves(
    rows: Sequence[Row],
    facts: Facts,
    drawn: tuple[alt.Y, str],
    elsewhere: pl.DataFrame,
    ends: tuple[alt.Y, str],
    tooltip: Sequence[alt.Tooltip],
    marked: Callable[[alt.Color], Sequence[alt.Chart]] = lambda color: (),
) -> alt.TopLevelMixin:
    """The chart of `rows`: a value is drawn as line and marks, `ends` as band and bars.

    `drawn` is that value, and the column that is drawn so of an overlay and of points `elsewhere`,
    which were measured in another state of the machine; `marked` makes layers with data of their
    own, on top, in the colours of the chart.
    """
    value, column = drawn
    names = names_with_overlay(facts)
    patterns = sorted({row["pattern"] for row in rows})
    behind = overlay_rows(facts, patterns, value, column)
    series = {row["series"] for row in [*rows, *behind]}
    color = common.color(names, shown=[name for name in names if name in series])
    picked = common.highlight()
    shade = 0.22 if len(series) <= common.BANDS_MAX else 0.0
    low, high = ends
    base = (
        alt.Chart()
        .transform_filter(common.only_shown())
        .encode(
            x=common.size_axis(),
            color=color,
        )
    )
    band = base.mark_area().encode(y=low, y2=high, opacity=common.faded(picked, shade))
    bars = base.mark_rule(strokeWidth=2).encode(y=low, y2=high, opacity=common.faded(picked, 0.5))
    line = base.mark_line(strokeWidth=2).encode(y=value, opacity=common.faded(picked, 1))
    marks = base.mark_point(filled=True, size=42).encode(
        y=value,
        shape=common.shape(names),
        opacity=common.faded(picked, 1),
        tooltip=[*common.tooltip(rows, series="library", size="size"), *tooltip],
    )
    return (
        alt.layer(
            *(band, bars, *overlay_layers(behind, value, color)),
            *elsewhere_layers(elsewhere, value, column, color),
            *(line, marks, *marked(color)),
            data=common.data_of(list(rows)),
        )
        .add_params(common.pattern_choice(patterns), picked)
        .properties(width="container", height=common.CHART_HEIGHT)
    )
