# SPDX-License-Identifier: Apache-2.0
"""The effect of cold buffers, first calls, in-place data and other starts."""

from __future__ import annotations

import altair as alt

from nhalf.facts.collectives import varied
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel


class CollectiveVariants(Panel[Facts]):
    title = "The same operation under different conditions"
    how_to_read = (
        "Each line is one condition, as a multiple of the time under the usual ones (started "
        "together, buffers in cache, called before, data and result apart): 2× is twice as slow; "
        "started after a barrier is what most other benchmarks do, so its distance from 1× is how "
        "much they mislead."
    )
    order = 55

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        ratios = varied(facts.launches, facts)
        if ratios.is_empty():
            return None
        points = with_intervals(ratios, ["series", "pattern", "variant", "bytes"])
        rows = [
            {**ratio_row(row, row["variant"]), "pattern": row["pattern"]}
            for row in common.thin(points, ["series", "pattern", "variant"]).to_dicts()
        ]
        names = series_names(facts)
        return ratio_chart(rows, names, kind_title="condition", standard="the usual time")
