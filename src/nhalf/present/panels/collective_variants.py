# SPDX-License-Identifier: Apache-2.0
"""What cold buffers, first calls, in-place data and another start change."""

from __future__ import annotations

import altair as alt

from nhalf.facts.collectives import varied
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel


class CollectiveVariants(Panel):
    title = "The same operation under other conditions"
    how_to_read = (
        "Each line is one condition, as a multiple of the time under the usual ones (started "
        "together, buffers in cache, called before, data and result apart): 2× is twice as slow; "
        "started after a barrier is what most other benchmarks do, so its distance from 1× is how "
        "much they mislead."
    )
    order = 55

    def render(self, data: Facts) -> alt.TopLevelMixin | None:
        ratios = varied(data.launches, data)
        if ratios.is_empty():
            return None
        points = ratios.group_by("series", "pattern", "variant", "bytes").agg("ratio")
        rows = [
            {
                **ratio_row(row["series"], row["variant"], row["bytes"], row["ratio"]),
                "pattern": row["pattern"],
            }
            for row in common.thin(points, ["series", "pattern", "variant"]).to_dicts()
        ]
        return ratio_chart(rows, series_names(data), what="condition", standard="the usual time")
