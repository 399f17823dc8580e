# SPDX-License-Identifier: Apache-2.0
"""Non-contiguous data, sent by a data type, packed by MPI or packed by hand."""

from __future__ import annotations

import altair as alt

from nhalf.facts.facts import Facts
from nhalf.facts.variants import LAYOUTS
from nhalf.present.charts.ways import ways_chart
from nhalf.present.panels import Panel
from nhalf.present.wording import layout_name


class Layouts(Panel[Facts]):
    title = "Non-contiguous data"
    how_to_read = (
        "Each line is one layout of the data and one way to send it, as a multiple of the time "
        "of contiguous data of the same size in the same launch: where packing by hand "
        "lies below the data type, the library's own packing is slow."
    )
    order = 34
    patterns = LAYOUTS.patterns

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return ways_chart(facts, LAYOUTS, layout_name, "contiguous data")
