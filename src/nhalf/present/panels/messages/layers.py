# SPDX-License-Identifier: Apache-2.0
"""Libraries and layers below and beside them, relative to the quickest layer."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.layers import CLASSIC_PATTERNS, against_layers, has_layers
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel


class Layers(Panel[Facts]):
    title = "Layers"
    how_to_read = (
        "Each line is a library, or a layer below or beside MPI, as a multiple of the time of the "
        "fastest layer without a library, in the same launch: the excess of a library's line "
        "over 1× is its own overhead."
    )
    order = 15
    patterns = (MAIN_PATTERN, *CLASSIC_PATTERNS)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        if not has_layers(facts):
            return None
        is_classic = pl.col("pattern").is_in(self.patterns) & (pl.col("axes") == "")
        launches = against_layers(facts).filter(is_classic)
        points = with_intervals(launches, ["label", "pattern", "bytes"])
        by_pattern = points.rename({"pattern": "series"})
        rows = [
            ratio_row(row, row["label"])
            for row in common.thin(by_pattern, ["series", "label"]).iter_rows(named=True)
        ]
        if len({row["kind"] for row in rows}) < 2:
            return None
        return ratio_chart(
            rows, self.patterns, "layer", "the quickest layer", series_title="pattern"
        )
