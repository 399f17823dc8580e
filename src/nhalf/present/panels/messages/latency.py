# SPDX-License-Identifier: Apache-2.0
"""Time of one message against its size, all libraries in one picture."""

from __future__ import annotations

import altair as alt

from nhalf.facts.facts import Facts
from nhalf.facts.series import plain_points
from nhalf.present.charts.curves import time_curves
from nhalf.present.panels import Panel


class Latency(Panel[Facts]):
    title = "Latency"
    how_to_read = (
        "Lower is faster: each line is one library, each mark the time of one message, bars and "
        "bands (of a few libraries) its 95 % interval over launches; both axes are logarithmic."
    )
    order = 10

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = plain_points(facts)
        return time_curves(points, facts, "time of one message")
