# SPDX-License-Identifier: Apache-2.0
"""The rate of memory by cores, in ordinary arrays and by each way to reach shared ones."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.memory import EVEN, PATTERNS, WAYS, rates
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, lines
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_text, way_name


class Memory(Panel[Facts]):
    title = "Memory bandwidth"
    how_to_read = (
        "Bytes per second that all processes or threads together read and write, counted as STREAM "
        "does: a line that rises with the cores has bandwidth to spare, and an access to shared "
        "arrays below ordinary ones spends its time on address computation."
    )
    order = 72
    patterns = PATTERNS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = rates(facts)
        if points.is_empty():
            return None
        rows = _rows(points)
        return lines(
            rows,
            (
                count_axis("cores", "cores", [row["cores"] for row in rows], doubling=True),
                common.log_axis("rate", "rate of all cores", rows, common.RATE_LABEL),
            ),
            kinds=list(dict.fromkeys(row["kind"] for row in rows)),
            facets=("series", sorted({row["series"] for row in rows})),
            tooltip=[
                alt.Tooltip("series:N", title="on"),
                alt.Tooltip("kind:N", title="access"),
                alt.Tooltip("ranks:Q", title="ranks"),
                alt.Tooltip("words:N", title="rate of all"),
                alt.Tooltip("size:N", title="each array"),
                alt.Tooltip("interval:N", title="95 % interval of the time"),
            ],
            choice=("kernel", "Kernel"),
        )


def _rows(points: pl.DataFrame) -> list[Row]:
    """Rows in the order of WAYS, even blocks first."""
    order = points.with_columns(
        place=pl.col("way").replace_strict(list(WAYS), list(range(len(WAYS)))),
        # Words come before numbers.
        length=pl.when(block=EVEN).then(0).otherwise(pl.col("block").cast(pl.Int64, strict=False)),
    )
    return [
        {
            "series": row["series"],
            "kind": way_name(row["way"], row["block"]),
            "kernel": row["kernel"],
            "ranks": row["ranks"],
            "cores": row["cores"],
            "rate": common.digits(row["rate_Bps"]),
            "words": format_rate(row["rate_Bps"]),
            "size": format_size(row["bytes"]),
            "interval": interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
        }
        for row in order.sort("place", "length", "series", "cores").iter_rows(named=True)
    ]
