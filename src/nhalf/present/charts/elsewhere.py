"""Points measured in another state of the machine: pale, hollow, and joined to nothing."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.present.cells import texts
from nhalf.present.charts import common

DATA = "elsewhere"
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
    rows = [_row(point, field, column) for point in points.to_dicts()]
    layer: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows, name=DATA))
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


def _row(point: Row, field: str, column: str) -> Row:
    return {
        **common.pick(point, "series", "pattern", "bytes"),
        **texts(point, size="bytes", time="median_s"),
        field: common.digits(point[column]),
        "state": f"flag {format_time(point['state_s'])}" if point["state_s"] else "unknown",
    }
