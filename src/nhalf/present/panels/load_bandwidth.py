# SPDX-License-Identifier: Apache-2.0
"""The rate of all pairs of ranks together."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import BANDWIDTH, with_pairs
from nhalf.facts.series import series_names, sound, with_series
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, lines, some_sizes
from nhalf.present.panels import Panel


class LoadBandwidth(Panel):
    title = "Bandwidth of many pairs"
    how_to_read = (
        "All bytes per second that several pairs of processes move together: a line that doubles "
        "with the pairs has room left, and where it turns flat, or falls, the pairs take the "
        "bandwidth from each other."
    )
    order = 49

    def render(self, data: Facts) -> alt.TopLevelMixin | None:
        points = with_pairs(sound(data.summary), BANDWIDTH)
        points = points.filter((pl.col("bytes") > 0) & (pl.col("bytes_per_time") > 0))
        if points["pairs"].n_unique() < 2:
            return None
        rows = _rows(with_series(points, data))
        rate = common.log_axis("rate", "rate of all pairs", rows, common.RATE_LABEL)
        return lines(
            rows,
            count_axis("pairs", "pairs at once", [row["pairs"] for row in rows], doubling=True),
            rate,
            kinds=list(dict.fromkeys(row["kind"] for row in rows)),
            facets=("series", series_names(data)),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("pairs:Q", title="pairs"),
                alt.Tooltip("kind:N", title="size"),
                alt.Tooltip("words:N", title="all pairs"),
                alt.Tooltip("each:N", title="each pair"),
                alt.Tooltip("interval:N", title="95 % interval of the time"),
            ],
        )


def _rows(points: pl.DataFrame) -> list[common.Row]:
    shown = points.filter(pl.col("bytes").is_in(some_sizes(points["bytes"].to_list())))
    rows = []
    for row in shown.sort("bytes", "series", "pairs").iter_rows(named=True):
        rate_Bps = row["bytes_per_time"] / row["median_s"]
        rows.append(
            {
                "series": row["series"],
                "kind": format_size(row["bytes"]),
                "pairs": row["pairs"],
                "rate": common.digits(rate_Bps),
                "words": format_rate(rate_Bps),
                "each": format_rate(rate_Bps / row["pairs"]),
                "interval": common.interval_text(
                    row["ci_low_s"], row["ci_high_s"], row["launches"]
                ),
            }
        )
    return rows
