# SPDX-License-Identifier: Apache-2.0
"""Ways to carry the payload of an active message, relative to the plain one."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.facts.active_messages import LONG, MEDIUM, way_ratios
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel

KINDS = {
    (MEDIUM, "one-transfer"): "medium: one copy and one transfer",
    (LONG, "bulk"): "long: bulk copy, connected once",
    (LONG, "bulk-each"): "long: bulk copy, connected each time",
    (LONG, "bulk-hybrid"): "long: bulk copy, connected each time from a buffer",
}


class ActiveMessages(Panel[Facts]):
    title = "Active messages"
    how_to_read = (
        "Each line is one way to carry a payload, as a multiple of the time of the standard way in "
        "the same launch: two transfers without a copy for medium messages, stores by the program "
        "for long ones; where the line of bulk copies falls below 1×, they pay off."
    )
    order = 32
    patterns = (MEDIUM, LONG)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        ratios = way_ratios(facts).filter(pl.col("pattern").is_in([MEDIUM, LONG]))
        if ratios.is_empty():
            return None
        by = ["series", "pattern", "way", "bytes"]
        points = common.thin(with_intervals(ratios.sort(by), by), ["series", "pattern", "way"])
        rows = [
            ratio_row(row, KINDS[row["pattern"], row["way"]])
            for row in points.iter_rows(named=True)
        ]
        return ratio_chart(
            rows,
            series_names(facts),
            kind_title="way",
            standard="the standard way",
            series_title="transport",
            order=list(KINDS.values()),
            outliers=False,
        )
