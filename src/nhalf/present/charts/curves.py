"""A line per library over the message size, its interval as a band, and what is drawn behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names, with_series
from nhalf.present.cells import texts
from nhalf.present.charts import common

ELSEWHERE_DATA = "elsewhere"
"""The name of these points' data in a specification."""
CURVES = ["series", "pattern", "axes"]


def elsewhere_points(drawn: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """Select the points in other states (`Facts.elsewhere`) on curves of which `drawn` has points.

    Adds `series`.
    """
    series = drawn if "series" in drawn.columns else with_series(drawn, facts)
    in_other_states = with_series(facts.elsewhere, facts)
    return in_other_states.join(
        series.select(CURVES).unique(), on=CURVES, how="semi", nulls_equal=True
    )


def elsewhere_layers(
    points: pl.DataFrame, value: alt.Y, column: str, color: alt.Color
) -> list[alt.Chart]:
    """Draw `column` of such points as `value`; no layer if there are none."""
    if points.is_empty():
        return []
    field = str(value.to_dict()["field"])  # type: ignore[call-overload]
    rows = [_point_row(point, field, column) for point in points.to_dicts()]
    layer: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows, name=ELSEWHERE_DATA))
        .transform_filter(common.only_shown())
        .mark_point(filled=False, size=42, opacity=0.45, strokeDash=[2, 2])
        .encode(
            x=common.size_axis(),
            y=value,
            color=color,
            tooltip=common.tooltip(
                rows,
                series="library",
                size="size",
                time="time",
                state="in another state of the machine",
            ),
        )
    )
    return [layer]


def _point_row(point: Row, field: str, column: str) -> Row:
    return {
        **common.pick(point, "series", "pattern", "bytes"),
        **texts(point, size="bytes", time="median_s"),
        field: common.digits(point[column]),
        "state": f"flag {format_time(point['state_s'])}" if point["state_s"] else "unknown",
    }


OVERLAY_DATA = "overlay"
"""The name of these curves' data in a specification."""


def names_with_overlay(facts: Facts) -> list[str]:
    """List every series that may be drawn, those of the overlay alone last."""
    if facts.overlay is None:
        return series_names(facts)
    return list(dict.fromkeys([*series_names(facts), *facts.overlay.points["series"].to_list()]))


def overlay_rows(facts: Facts, patterns: Collection[str], value: alt.Y, column: str) -> list[Row]:
    """Select the rows of these patterns; `column` of the overlay is drawn as `value`."""
    if facts.overlay is None:
        return []
    field = str(value.to_dict()["field"])  # type: ignore[call-overload]
    points = facts.overlay.points.filter(
        pl.col("pattern").is_in(list(patterns)), pl.col(column).is_not_null()
    )
    return [_overlay_row(point, field, column, facts.overlay.name) for point in points.to_dicts()]


def overlay_layers(rows: list[Row], value: alt.Y, color: alt.Color) -> list[alt.Chart]:
    """Draw the dashed curves; none if there are no rows."""
    if not rows:
        return []
    line: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows, name=OVERLAY_DATA))
        .transform_filter(common.only_shown())
        .mark_line(strokeDash=[6, 4], strokeWidth=1.5, point={"filled": False, "size": 22})
        .encode(
            x=common.size_axis(),
            y=value,
            color=color,
            tooltip=common.tooltip(
                rows, of="for comparison", series="library", size="size", time="time", rate="rate"
            ),
        )
    )
    return [line]


def _overlay_row(point: Row, field: str, column: str, name: str) -> Row:
    return {
        **{"of": name, field: common.digits(point[column])},
        **common.pick(point, "series", "pattern", "bytes"),
        **texts(point, size="bytes", time="median_s", rate="rate_Bps"),
    }


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
        alt.Chart().transform_filter(common.only_shown()).encode(x=common.size_axis(), color=color)
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
