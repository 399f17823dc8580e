"""Panels on single messages: time, rate, layers and the fitted model."""

import math
from typing import Any

import altair as alt
import polars as pl

from nhalf.base.listing import ranks_text
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.contests import CLASSIC_PATTERNS, against_layers, has_layers
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.overview import LibraryOverview, fitted_curves, half_rates, overview
from nhalf.facts.series import MAIN_PATTERN, library_label, plain_points, series_names
from nhalf.facts.switches import evident_changes
from nhalf.machines.machine import FittedModel
from nhalf.present.charts import common
from nhalf.present.charts.curves import beside, curves, elsewhere_points, time_curves
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import change_of, n_half_text, texts


class Latency(Panel[Facts]):
    title = "Latency"
    how_to_read = (
        "Lower is faster: each line is one library, each mark the time of one message, bars and "
        "bands (of a few libraries) its 95 % interval over launches; both axes are logarithmic."
    )
    order = 10

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return time_curves(plain_points(facts), facts, "time of one message")


class Layers(Panel[Facts]):
    title = "Layers"
    how_to_read = (
        "Each line is a library, or a layer below or beside MPI, as a multiple of the time of the "
        "fastest layer without a library, in the same launch: the excess of a library's line "
        "over 1× is its own overhead."
    )
    order = 15
    patterns = (MAIN_PATTERN, *CLASSIC_PATTERNS)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        if not has_layers(facts):
            return None
        is_classic = pl.col("pattern").is_in(self.patterns) & (pl.col("axes") == "")
        launches = against_layers(facts).filter(is_classic)
        points = with_intervals(launches, ["label", "pattern", "bytes"])
        by_pattern = points.rename({"pattern": "series"})
        rows = [
            ratio_row(row, row["label"])
            for row in common.thin(by_pattern, ["series", "label"]).iter_rows(named=True)
        ]
        if len({row["kind"] for row in rows}) < 2:
            return None
        return ratio_chart(
            rows, self.patterns, "layer", "the quickest layer", series_title="pattern"
        )


PATTERNS = (*CLASSIC_PATTERNS, "barrier")


class LayerTable(Panel[Facts]):
    title = "Layers side by side"
    how_to_read = (
        "Each row is a library or a layer: the time of its smallest message, its highest rate, the "
        "size at which it reaches half of it (n½), and the times of operations of several ranks "
        "at their smallest size; – means not measured."
    )
    order = 16

    def render(self, facts: Facts) -> Table | None:
        if not has_layers(facts):
            return None
        points = facts.whole.filter((pl.col("axes") == "") & (pl.col("median_s") > 0))
        patterns = [name for name in PATTERNS if name in points["pattern"].to_list()]
        titles = [_title(points, name) for name in patterns]
        rows = []
        for (transport, mpi), frame in sorted(points.group_by("transport", "mpi")):
            name = library_label(facts, str(transport), str(mpi))
            times = [_smallest(frame, points, pattern) for pattern in patterns]
            rows.append([name, *_message(facts, name, str(mpi)), *times])
        columns = ["library or layer", "latency", "peak rate", "n½", *titles]
        return Table(columns, rows) if rows else None


def _setting(points: pl.DataFrame, pattern: str) -> dict[str, int]:
    """The smallest size of a pattern, on most ranks."""
    frame = points.filter(pl.col("pattern") == pattern)
    return {"bytes": int(str(frame["bytes"].min())), "ranks": int(str(frame["ranks"].max()))}


def _title(points: pl.DataFrame, pattern: str) -> str:
    where = _setting(points, pattern)
    size = f", {format_size(where['bytes'])}" if where["bytes"] else ""
    return f"{pattern}, {ranks_text(where['ranks'])}{size}"


def _smallest(frame: pl.DataFrame, points: pl.DataFrame, pattern: str) -> str:
    """The time of one library or layer in the setting of the table; its own algorithm first."""
    chosen = frame.filter(pattern=pattern, **_setting(points, pattern))
    times_s = chosen.sort("algorithm", nulls_last=True)["median_s"].to_list()
    return format_time(times_s[0]) if times_s else "–"


def _message(facts: Facts, name: str, mpi: str) -> list[str]:
    """Latency, peak rate and n½ of the first curve of a library or layer."""
    curve = next((entry for entry in overview(facts) if _is_about(entry, name, mpi)), None)
    if curve is None:
        return ["–", "–", "–"]
    half = curve.n_half_bytes
    return [
        format_time(curve.latency_s),
        format_rate(curve.peak_Bps),
        format_size(round(half)) if math.isfinite(half) else "–",
    ]


def _is_about(entry: LibraryOverview, name: str, mpi: str) -> bool:
    """Whether an entry of the overview is about a library or layer: its name leads the series."""
    return entry.mpi == mpi and f"{entry.series}, ".startswith(f"{name}, ")


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
        axis = alt.Axis(labelExpr=common.RATE_LABEL, tickCount=6)
        rate_axis = alt.Y("median_rate:Q", title="rate", scale=alt.Scale(zero=True), axis=axis)
        ends = (alt.Y("low_rate:Q"), "high_rate:Q")
        tooltip = common.tooltip(rows, "rate", "time", interval="95 % interval of the time")
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
    tips = common.tooltip(rows, "series", n_half="n½", half="half of the highest rate")
    base = beside("half-rates", rows, alt.Y("median_rate:Q"), color, tips)
    stem = base.mark_rule(strokeDash=[2, 3], opacity=0.8).encode(y2=alt.value("height"))
    return [stem, base.mark_point(shape="diamond", size=130, strokeWidth=2)]


HEADROOM = 1.15
"""How far above a pattern's highest rate an interval is drawn: a clock hiccup would flatten all."""


def _rate_rows(points: pl.DataFrame) -> list[Row]:
    points = points.with_columns(most=HEADROOM * pl.col("rate_Bps").max().over("pattern"))
    rows = common.time_rows(points)
    for row, point in zip(rows, points.iter_rows(named=True), strict=True):
        high = min(point["rate_high_Bps"], point["most"])
        drawn = common.drawn_ends(point["rate_low_Bps"], point["rate_Bps"], high)
        for name in ("median", "low", "high"):
            del row[name]
        row["median_rate"] = common.digits(point["rate_Bps"])
        row |= {"high_rate": drawn["high"], "low_rate": drawn["low"]}
    return rows


STEPS_PER_SEGMENT = 24
"""Places at which a segment's line is drawn: it is curved on logarithmic axes."""


class Model(Panel[Facts]):
    title = "Model"
    how_to_read = (
        "Dots are measured, lines are fitted as start-up time plus bytes over rate; a shaded "
        "stripe brackets a size at which the time steps or its slope changes, by the library's "
        "protocol or a cache."
    )
    order = 40
    patterns = (MAIN_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = _rows(facts)
        if not any(row["kind"] == "segment" for row in rows):
            return None
        names = series_names(facts)
        # A layer without rows would leave its scale without an extent.
        switched = any(row["kind"] == "switch" for row in rows)
        layers = [*([_stripes(rows)] if switched else []), *_curves(rows, names)]
        return common.facets(alt.layer(*layers, data=common.data_of(rows)), rows, names)


def _stripes(rows: list[Row]) -> Any:
    return (
        alt.Chart()
        .transform_filter("datum.kind === 'switch'")
        .mark_rect(opacity=0.22, color="#8a94a3", stroke="#8a94a3", strokeWidth=1.5)
        .encode(x=common.size_axis(), x2="until:Q", tooltip=common.tooltip(rows, words="switch"))
    )


def _curves(rows: list[Row], names: list[str]) -> list[Any]:
    """The measured dots and the lines of the segments."""
    y = common.log_axis("time", "time of one message", rows, common.TIME_LABEL)
    color = alt.Color("series:N", scale=alt.Scale(domain=names), legend=None)
    base = alt.Chart().encode(x=common.size_axis(), y=y, color=color)
    dots = (
        base.transform_filter("datum.kind === 'measured'")
        .mark_point(filled=True, size=26, opacity=0.55)
        .encode(tooltip=common.tooltip(rows, series="library", size="size", words="time"))
    )
    lines = (
        base.transform_filter("datum.kind === 'segment'")
        .mark_line(strokeWidth=2.2)
        .encode(detail="segment:N", tooltip=common.tooltip(rows, series="library", words="segment"))
    )
    return [dots, lines]


def _rows(facts: Facts) -> list[Row]:
    rows: list[Row] = []
    for series, curve, models in fitted_curves(facts):
        rows += [
            {
                **{"kind": "measured", "series": row["series"], "bytes": row["bytes"]},
                **texts(row, size="bytes", words="median_s"),
                "time": common.digits(row["median_s"]),
            }
            for row in common.thin(curve, ["series"]).iter_rows(named=True)
        ]
        for model in models:
            rows += [{"series": series, **row} for row in _segments(model)]
            rows += [{"series": series, **row} for row in _switches(model, facts)]
    return rows


def _segments(model: FittedModel) -> list[Row]:
    return [
        {
            **{"kind": "segment", "segment": number, "bytes": common.digits(size, 8)},
            "time": common.digits(time_s),
            "words": f"{format_size(segment.from_bytes)} to {format_size(segment.to_bytes)}: "
            f"{format_time(segment.t0_s)} + n / {format_rate(segment.r_inf_Bps)}",
        }
        for number, segment in enumerate(model.segments)
        for size in _places(segment.from_bytes, segment.to_bytes)
        if math.isfinite(time_s := segment.time_s(size)) and time_s > 0
    ]


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
