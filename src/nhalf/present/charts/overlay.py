"""The curves of an earlier run or of a machine, dashed, behind those of a run."""

from __future__ import annotations

from collections.abc import Collection

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.cells import texts
from nhalf.present.charts import common

DATA = "overlay"
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
    return [_row(point, field, column, facts.overlay.name) for point in points.to_dicts()]


def overlay_layers(rows: list[Row], value: alt.Y, color: alt.Color) -> list[alt.Chart]:
    """Draw the dashed curves; none if there are no rows."""
    if not rows:
        return []
    line: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows, name=DATA))
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


def _row(point: Row, field: str, column: str, name: str) -> Row:
    return {
        **{"of": name, field: common.digits(point[column])},
        **common.pick(point, "series", "pattern", "bytes"),
        **texts(point, size="bytes", time="median_s", rate="rate_Bps"),
    }
