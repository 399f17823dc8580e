"""Ranks as places on an axis: one each, or groups of neighbours where there are many."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.present.charts import common

PLACES_MAX = 128


def places_of(ranks: int) -> pl.DataFrame:
    """Columns `rank`, `place` (the first rank of its group), `ranks` in words, `members`."""
    step = max(1, math.ceil(ranks / PLACES_MAX))
    all_ranks = pl.DataFrame({"rank": range(ranks)}, schema={"rank": pl.Int32})
    first = pl.col("rank") // step * step
    last = pl.min_horizontal(first + step - 1, pl.lit(ranks - 1))
    words = first.cast(pl.String)
    if step > 1:
        words = words + " to " + last.cast(pl.String)
    return all_ranks.with_columns(place=first, ranks=words, members=last - first + 1)


def rank_bars(
    rows: list[Row], y: alt.Y, color: alt.Color, height: int = common.CHART_HEIGHT, **titles: Any
) -> alt.TopLevelMixin:
    """A bar of parts for each place of `rows`, with a tooltip of its rank and of `titles`."""
    x = alt.X("place:O", title="rank", axis=alt.Axis(labelOverlap=True, labelAngle=0))
    tooltip = common.tooltip(rows, rank="rank", **titles)
    bars = alt.Chart(common.data_of(rows)).mark_bar().encode(x=x, y=y, color=color, tooltip=tooltip)
    chart: alt.Chart = bars.properties(width="container", height=height)
    return chart
