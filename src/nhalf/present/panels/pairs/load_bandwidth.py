# SPDX-License-Identifier: Apache-2.0
"""The rate of all pairs of ranks together."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import BANDWIDTH, rates_of_pairs
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, lines, some_sizes
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_text


class LoadBandwidth(Panel[Facts]):
    title = "Bandwidth of many pairs"
    how_to_read = (
        "The aggregate rate of several pairs of processes: a line that doubles with the pairs has "
        "bandwidth to spare, and where it turns flat, or falls, the pairs compete for bandwidth."
    )
    order = 49
    patterns = (BANDWIDTH,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = rates_of_pairs(facts)
        if points.is_empty():
            return None
        rows = _rows(points)
        rate = common.log_axis("rate", "rate of all pairs", rows, common.RATE_LABEL)
        return lines(
            rows,
            (
                count_axis("pairs", "pairs at once", [row["pairs"] for row in rows], doubling=True),
                rate,
            ),
            kinds=list(dict.fromkeys(row["kind"] for row in rows)),
            facets=("series", series_names(facts)),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("pairs:Q", title="pairs"),
                alt.Tooltip("kind:N", title="size"),
                alt.Tooltip("words:N", title="all pairs"),
                alt.Tooltip("each:N", title="each pair"),
                alt.Tooltip("interval:N", title="95 % interval of the time"),
            ],
        )


def _rows(points: pl.DataFrame) -> list[Row]:
    shown = points.filter(pl.col("bytes").is_in(some_sizes(points["bytes"].to_list())))
    rows = []
    for row in shown.sort("bytes", "series", "pairs").iter_rows(named=True):
        rows.append(
            {
                "series": row["series"],
                "kind": format_size(row["bytes"]),
                "pairs": row["pairs"],
                "rate": common.digits(row["rate_Bps"]),
                "words": format_rate(row["rate_Bps"]),
                "each": format_rate(row["each_Bps"]),
                "interval": interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
            }
        )
    return rows
