# SPDX-License-Identifier: Apache-2.0
"""Measurements against the fitted model, with its segments and switches."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.overview import fitted_curves
from nhalf.facts.series import MAIN_PATTERN, series_names
from nhalf.facts.switches import evident_changes
from nhalf.machines.machine import FittedModel
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.present.wording import change_of

STEPS_PER_SEGMENT = 24
"""Places at which a segment's line is drawn: it is curved on logarithmic axes."""


class Model(Panel[Facts]):
    title = "Model"
    how_to_read = (
        "Dots are measured, lines are fitted as start-up time plus bytes over rate; a shaded "
        "stripe brackets the size at which the library switches its protocol."
    )
    order = 40
    patterns = (MAIN_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = _rows(facts)
        if not any(row["kind"] == "segment" for row in rows):
            return None
        shown = {row["series"] for row in rows}
        names = series_names(facts)
        # A layer without rows would leave its scale without an extent.
        switched = any(row["kind"] == "switch" for row in rows)
        layers = [*([_stripes()] if switched else []), *_curves(rows, names)]
        return (
            alt.layer(*layers, data=common.data_of(rows))
            .properties(width=common.FACET_WIDTH, height=common.FACET_HEIGHT)
            .facet(
                alt.Facet("series:N", title=None, sort=[name for name in names if name in shown]),
                columns=2,
            )
        )


def _stripes() -> Any:
    """The brackets of the switches."""
    return (
        alt.Chart()
        .transform_filter("datum.kind === 'switch'")
        .mark_rect(opacity=0.22, color="#8a94a3", stroke="#8a94a3", strokeWidth=1.5)
        .encode(
            x=common.size_axis(),
            x2="until:Q",
            tooltip=[_words("switch")],
        )
    )


def _curves(rows: list[Row], names: list[str]) -> list[Any]:
    """The measured dots and the lines of the segments."""
    base = alt.Chart().encode(
        x=common.size_axis(),
        y=common.log_axis("time", "time of one message", rows, common.TIME_LABEL),
        color=alt.Color("series:N", scale=alt.Scale(domain=names), legend=None),
    )
    library = alt.Tooltip("series:N", title="library")
    dots = (
        base.transform_filter("datum.kind === 'measured'")
        .mark_point(filled=True, size=26, opacity=0.55)
        .encode(tooltip=[library, alt.Tooltip("size:N", title="size"), _words("time")])
    )
    lines = (
        base.transform_filter("datum.kind === 'segment'")
        .mark_line(strokeWidth=2.2)
        .encode(detail="segment:N", tooltip=[library, _words("segment")])
    )
    return [dots, lines]


def _words(title: str) -> alt.Tooltip:
    return alt.Tooltip("words:N", title=title)


def _rows(facts: Facts) -> list[Row]:
    rows: list[Row] = []
    for series, curve, models in fitted_curves(facts):
        rows += _measured(common.thin(curve, ["series"]))
        for model in models:
            rows += [{"series": series, **row} for row in _segments(model)]
            rows += [{"series": series, **row} for row in _switches(model, facts)]
    return rows


def _measured(points: pl.DataFrame) -> list[Row]:
    return [
        {
            "kind": "measured",
            "series": row["series"],
            "bytes": row["bytes"],
            "size": format_size(row["bytes"]),
            "time": common.digits(row["median_s"]),
            "words": format_time(row["median_s"]),
        }
        for row in points.iter_rows(named=True)
    ]


def _segments(model: FittedModel) -> list[Row]:
    rows: list[Row] = []
    for number, segment in enumerate(model.segments):
        words = (
            f"{format_size(segment.from_bytes)} to {format_size(segment.to_bytes)}: "
            f"{format_time(segment.t0_s)} + n / {format_rate(segment.r_inf_Bps)}"
        )
        for size in _places(segment.from_bytes, segment.to_bytes):
            time_s = segment.time_s(size)
            if math.isfinite(time_s) and time_s > 0:
                rows.append(
                    {
                        "kind": "segment",
                        "segment": number,
                        "bytes": common.digits(size, 8),
                        "time": common.digits(time_s),
                        "words": words,
                    }
                )
    return rows


def _places(first: float, last: float) -> list[float]:
    """Sizes from first to last, evenly spaced on the axis (logarithm of 1 + size)."""
    if last <= first:
        return [first]
    low, high = math.log1p(first), math.log1p(last)
    steps = STEPS_PER_SEGMENT - 1
    inner = [math.expm1(low + (high - low) * step / steps) for step in range(1, steps)]
    return [first, *inner, last]


def _switches(model: FittedModel, facts: Facts) -> list[Row]:
    return [
        {
            "kind": "switch",
            "bytes": change.low_bytes,
            "until": change.high_bytes,
            "words": f"between {format_size(change.low_bytes)} and "
            f"{format_size(change.high_bytes)}: {change_of(change)} ({change.kind})",
        }
        for change in evident_changes(facts, model)
    ]
