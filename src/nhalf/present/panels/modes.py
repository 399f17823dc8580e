# SPDX-License-Identifier: Apache-2.0
"""What the send modes cost, relative to the standard send."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel, ReportData
from nhalf.store.schema import POINT_COLUMNS

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
        names = common.series_names(data)
        return ratio_chart(rows, names, what="mode", standard="the standard send")


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
    return [
        ratio_row(row["series"], mode_name(row["pattern"]), row["bytes"], row["ratio"])
        for row in common.thin(points, ["series", "pattern"]).iter_rows(named=True)
    ]
