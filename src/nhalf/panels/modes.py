# SPDX-License-Identifier: Apache-2.0
"""What the send modes cost, relative to the standard send."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.panels import Panel, ReportData
from nhalf.panels import _common as common
from nhalf.statistics.intervals import ratio_interval
from nhalf.store.schema import POINT_COLUMNS
from nhalf.units import format_size

PAIRED = ["run", *(name for name in POINT_COLUMNS if name != "pattern"), "launch"]
MODE_WORDS = {
    "ssend": "synchronous",
    "bsend": "buffered",
    "rsend": "ready",
    "diffbuf": "changing buffers",
}


class Modes(Panel):
    title = "Send modes"
    how_to_read = (
        "Each line is one way to send, as a multiple of the time of a standard send of the same "
        "size in the same launch: 2× is twice as slow, below 1× is faster, and marks at an "
        "edge lie beyond it."
    )
    order = 30

    def render(self, data: ReportData) -> alt.TopLevelMixin | None:
        rows = _rows(data)
        if not rows:
            return None
        modes = sorted({row["mode"] for row in rows})
        names = [
            name for name in common.series_names(data) if name in {row["series"] for row in rows}
        ]
        mode_color = alt.Color(
            "mode:N",
            title=None,
            scale=alt.Scale(domain=modes),
            legend=alt.Legend(title=None, symbolOpacity=1),
        )
        domain = _domain([row["ratio"] for row in rows])
        ratio = alt.Y(
            "ratio:Q",
            title="times the standard send",
            scale=alt.Scale(type="log", nice=False, domain=domain, clamp=True),
            axis=alt.Axis(
                values=_ticks(*domain),
                labelExpr="format(datum.value, '~r') + '×'",
                labelOverlap=True,
            ),
        )
        base = alt.Chart().encode(x=common.size_axis(), color=mode_color)
        one = alt.Chart().mark_rule(strokeDash=[4, 4], opacity=0.6).encode(y=alt.datum(1))
        band = base.mark_area(opacity=0.14).encode(
            y=alt.Y("low:Q", scale=alt.Scale(type="log", domain=domain, clamp=True)), y2="high:Q"
        )
        line = base.mark_line(strokeWidth=2).encode(y=ratio)
        marks = base.mark_point(filled=True, size=30).encode(
            y=ratio,
            shape=alt.Shape("mode:N", title=None, scale=alt.Scale(domain=modes)),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("mode:N", title="mode"),
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("ratio:Q", title="times standard", format=".3~r"),
                alt.Tooltip("interval:N", title="95 % interval"),
            ],
        )
        return (
            alt.layer(band, one, line, marks, data=common.data_of(rows))
            .properties(width=common.FACET_WIDTH, height=common.FACET_HEIGHT)
            .facet(alt.Facet("series:N", title=None, sort=names), columns=2)
        )


def mode_name(pattern: str) -> str:
    """'pingpong-ssend' -> 'synchronous (ssend)'; unknown modes keep their own name."""
    suffix = pattern.removeprefix(f"{common.MAIN_PATTERN}-")
    return f"{MODE_WORDS[suffix]} ({suffix})" if suffix in MODE_WORDS else suffix


def mode_ratios(data: ReportData) -> pl.DataFrame:
    """Per launch, each mode's median over the standard send's: columns of a launch and `ratio`."""
    launches = data.launches.filter(pl.col("median_s") > 0)
    standard = launches.filter(pl.col("pattern") == common.MAIN_PATTERN)
    modes = launches.filter(pl.col("pattern").str.starts_with(f"{common.MAIN_PATTERN}-"))
    return modes.join(
        standard.select(*PAIRED, standard_s="median_s"), on=PAIRED, nulls_equal=True
    ).with_columns(ratio=pl.col("median_s") / pl.col("standard_s"))


def _rows(data: ReportData) -> list[common.Row]:
    ratios = common.with_series(mode_ratios(data), data)
    points = ratios.group_by("series", "pattern", "bytes").agg("ratio")
    rows: list[common.Row] = []
    for row in common.thin(points, ["series", "pattern"]).iter_rows(named=True):
        interval = ratio_interval(row["ratio"])
        several = len(row["ratio"]) > 1
        text = f"{interval.low:.3g} to {interval.high:.3g}" if several else "none (one launch)"
        rows.append(
            {
                "series": row["series"],
                "mode": mode_name(row["pattern"]),
                "bytes": row["bytes"],
                "size": format_size(row["bytes"]),
                "ratio": common.digits(interval.median, 4),
                "low": common.digits(common.drawn_low(interval.low, interval.median), 4),
                "high": common.digits(common.drawn_high(interval.high, interval.median), 4),
                "interval": text,
            }
        )
    return rows


def _domain(ratios: list[float]) -> list[float]:
    """What the axis shows: 1 and most ratios; the few beyond lie at its edges."""
    ordered = sorted(ratios)
    low, high = ordered[len(ordered) // 25], ordered[-1 - len(ordered) // 25]
    return [float(f"{min(low, 1) / 1.15:.2g}"), float(f"{max(high, 1) * 1.15:.2g}")]


def _ticks(low: float, high: float) -> list[float]:
    """Finer than decades: most modes cost between nothing and a few times.

    Only ticks on the axis: a clamped scale would draw the others at its edges.
    """
    if high / low > 1000:
        ticks = [float(f"1e{power}") for power in range(-9, 10)]
    elif high / low > 6:
        ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
    else:
        ticks = [0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5]
    return [tick for tick in ticks if low <= tick <= high]
