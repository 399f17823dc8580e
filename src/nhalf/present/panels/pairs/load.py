# SPDX-License-Identifier: Apache-2.0
"""How much longer a message takes while other pairs of ranks also communicate."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.numbers import span
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import LATENCY, by_pairs, load_ratios
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, dashed_level, lines, some_sizes
from nhalf.present.charts.ratios import ratio_axis, ratio_domain
from nhalf.present.panels import Panel


class Load(Panel[Facts]):
    title = "Latency under load"
    how_to_read = (
        "The more pairs of processes communicate at once, the longer each may have to wait: 2× "
        "means that a message then takes twice the time of a single pair; a line that stays at 1× "
        "means that the pairs do not disturb each other."
    )
    order = 48
    patterns = (LATENCY,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        ratios = load_ratios(facts)
        if ratios.filter(pl.col("pairs") > 1).is_empty():
            return None
        rows = _rows(ratios)
        domain = ratio_domain([row["ratio"] for row in rows])
        return lines(
            rows,
            (
                count_axis("pairs", "pairs at once", [row["pairs"] for row in rows], doubling=True),
                ratio_axis(domain, "one pair's latency"),
            ),
            kinds=list(dict.fromkeys(row["kind"] for row in rows)),
            facets=("series", series_names(facts)),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("pairs:Q", title="pairs"),
                alt.Tooltip("kind:N", title="size"),
                alt.Tooltip("time:N", title="time"),
                alt.Tooltip("ratio:Q", title="times one pair", format=".3~r"),
                alt.Tooltip("interval:N", title="95 % interval"),
            ],
            behind=[dashed_level(1)],
        )


def _rows(ratios: pl.DataFrame) -> list[Row]:
    shown = ratios.filter(pl.col("bytes").is_in(some_sizes(ratios["bytes"].to_list())))
    points = by_pairs(shown).sort("bytes", "series", "pairs")
    return [
        {
            "series": row["series"],
            "kind": format_size(row["bytes"]),
            "pairs": row["pairs"],
            "ratio": common.digits(row["ratio"], 4),
            "time": format_time(row["time_s"]),
            "interval": span(row["low"], row["high"])
            if row["launches"] > 1 and row["pairs"] > 1
            else "none",
        }
        for row in points.iter_rows(named=True)
    ]
