"""Levels of curves over time, with intervals, and a rule where a curve changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from nhalf.base.dates import date_of
from nhalf.base.numbers import change, fixed, says_nothing
from nhalf.base.rows import Row
from nhalf.decide.history.history import CurveHistory, History, moment
from nhalf.present.charts import common

TIMES = {
    **{"milliseconds": "%-d %b %H:%M:%S", "seconds": "%-d %b %H:%M:%S"},
    **{"minutes": "%-d %b %H:%M", "hours": "%-d %b %H:%M", "date": "%-d %b", "day": "%-d %b"},
    **{"week": "%-d %b", "month": "%b %Y", "year": "%Y"},
}
"""How moments are written on the axis: with 24 hours, and days by their month."""
ROOM = 0.05
"""An axis shows at least this share of a level beyond the lowest and the highest one."""


def history_chart(history: History, names: Sequence[str]) -> alt.TopLevelMixin:
    """One curve at a time, by name; the values are relative to its first run."""
    rows: list[Row] = []
    for name, curve in zip(names, history.curves, strict=True):
        rows += _rows(name, curve, history)
    base = alt.Chart().transform_filter("datum.curve === shown")
    x = alt.X("at:T", title="measured", axis=alt.Axis(format=TIMES, labelOverlap="greedy"))
    ratio = alt.Y("ratio:Q", title="times the first run", scale=alt.Scale(zero=False))
    ends = base.encode(x=x, y=alt.Y("low:Q"), y2="high:Q").transform_filter("isValid(datum.low)")
    titles = {"when": "measured", "run": "run", "library": "library", "time": "/ first"}
    marks = base.mark_point(filled=True, size=46, opacity=1).encode(
        x=x, y=ratio, tooltip=common.tooltip(rows, **titles)
    )
    changes = (
        base.transform_filter("datum.change !== ''")
        .mark_rule(strokeDash=[5, 4], strokeWidth=2, color="#d55e00")
        .encode(x=x, tooltip=common.tooltip(rows, change="changed"))
    )
    line = base.mark_line(strokeWidth=2).encode(x=x, y=ratio)
    # A layer without rows would leave its scale without an extent.
    changed = [changes] if any(row["change"] for row in rows) else []
    bars = ends.mark_rule(strokeWidth=2, opacity=0.5)
    return (
        alt.layer(bars, line, marks, *changed, data=common.data_of(rows))
        .add_params(common.choice("shown", list(names), names[0], "Curve"))
        .properties(width="container", height=common.CHART_HEIGHT)
    )


def _rows(name: str, curve: CurveHistory, history: History) -> list[Row]:
    levels = curve.levels
    lowest, highest = float(levels.ratio.min()), float(levels.ratio.max())
    reach = max(highest - lowest, ROOM * highest)
    changes = {shift.at: f"{change(shift.ratio)}, first in {shift.at}" for shift in curve.shifts}
    return [
        {
            **{"curve": name, "run": run, "library": levels.libraries[i]},
            "at": None if date is None else date.isoformat(),
            "when": moment(history.started_s[run]),
            "ratio": common.digits(float(levels.ratio[i])),
            "low": common.digits(max(low, lowest - reach)),
            "high": common.digits(min(high, highest + reach)),
            "time": fixed(levels.ratio[i], 3),
            "change": changes.get(run, ""),
        }
        for i, run in enumerate(levels.runs)
        for date in [date_of(history.started_s[run])]
        for low, high in [_ends(float(levels.low[i]), float(levels.high[i]))]
    ]


def _ends(low: float, high: float) -> tuple[float, float]:
    """An interval, or NaN for one that is unknown: its bar would hide the levels."""
    return (math.nan, math.nan) if says_nothing(low, high) else (low, high)
