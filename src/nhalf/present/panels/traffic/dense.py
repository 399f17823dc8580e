# SPDX-License-Identifier: Apache-2.0
"""The rate of dense traffic, phase by phase."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.many_ranks import DENSE, phases
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, lines, some_sizes
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_text

PATTERNS = {
    "dense-alltoall": "all to all, by distance",
    "dense-pairwise": "pairs, by distance",
    "dense-cumulative": "pairs, by their number",
    "dense-random": "random pairs",
}


class Dense(Panel[Facts]):
    title = "Dense traffic by phase"
    how_to_read = (
        "The sending rate of each participating process while all of them communicate; partners "
        "differ from phase to phase (one rank further, one pair more, or random); processes "
        "without a partner wait and are not counted, so a phase below the others is one whose "
        "partners share a bottleneck."
    )
    order = 65
    patterns = DENSE

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = phases(facts)
        if points.is_empty():
            return None
        rows = _rows(points)
        rate = common.log_axis("rate", "rate of one process", rows, common.RATE_LABEL)
        return lines(
            rows,
            (count_axis("phase", "phase", [row["phase"] for row in rows]), rate),
            kinds=list(dict.fromkeys(row["kind"] for row in rows)),
            facets=("pattern", list(PATTERNS.values())),
            tooltip=[
                alt.Tooltip("series:N", title="library"),
                alt.Tooltip("phase:Q", title="phase"),
                alt.Tooltip("kind:N", title="size"),
                alt.Tooltip("active:N", title="processes taking part"),
                alt.Tooltip("words:N", title="each of these"),
                alt.Tooltip("all:N", title="all together"),
                alt.Tooltip("interval:N", title="95 % interval of the time"),
            ],
            choice=("series", "Library"),
        )


def _rows(points: pl.DataFrame) -> list[Row]:
    shown = points.filter(pl.col("bytes").is_in(some_sizes(points["bytes"].to_list())))
    rows = []
    for row in shown.sort("bytes", "series", "pattern", "phase").iter_rows(named=True):
        rows.append(
            {
                "series": row["series"],
                "pattern": PATTERNS[row["pattern"]],
                "kind": format_size(row["bytes"]),
                "phase": row["phase"],
                "rate": common.digits(row["each_Bps"]),
                "active": f"{row['active']} of {row['ranks']}",
                "words": format_rate(row["each_Bps"]),
                "all": format_rate(row["rate_Bps"]),
                "interval": interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
            }
        )
    return rows
