# SPDX-License-Identifier: Apache-2.0
"""MPI windows by synchronisation of an access, and by the origin of their memory."""

from __future__ import annotations

import altair as alt

from nhalf.facts.facts import Facts
from nhalf.facts.variants import WINDOWS
from nhalf.present.charts.ways import ways_chart
from nhalf.present.panels import Panel
from nhalf.present.wording import window_name


class Windows(Panel[Facts]):
    title = "One-sided accesses"
    how_to_read = (
        "Each line is one way to synchronise an access to an MPI window, or one kind of window, "
        "as a multiple of the time of an access to allocated memory that ends with a flush in the "
        "same launch: a fence or a lock far above 1× costs more than the data it protects."
    )
    order = 33
    patterns = WINDOWS.patterns

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return ways_chart(facts, WINDOWS, window_name, "an access with a flush")
