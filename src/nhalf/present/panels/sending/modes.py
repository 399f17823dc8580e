# SPDX-License-Identifier: Apache-2.0
"""What the send modes cost, relative to the standard send."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.sending import mode_name, mode_ratios
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row
from nhalf.present.panels import Panel


class Modes(Panel[Facts]):
    title = "Send modes"
    how_to_read = (
        "Each line is one way to send, as a multiple of the time of a standard send of the same "
        "size in the same launch: 2× is twice as slow, below 1× is faster, and marks at an "
        "edge lie beyond it."
    )
    order = 30

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = _rows(facts)
        if not rows:
            return None
        return ratio_chart(
            rows, series_names(facts), kind_title="mode", standard="the standard send"
        )


def _rows(facts: Facts) -> list[Row]:
    points = with_intervals(mode_ratios(facts), ["series", "pattern", "bytes"])
    return [
        ratio_row(row, mode_name(row["pattern"]))
        for row in common.thin(points, ["series", "pattern"]).iter_rows(named=True)
    ]
