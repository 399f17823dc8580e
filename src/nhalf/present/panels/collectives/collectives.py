# SPDX-License-Identifier: Apache-2.0
"""Completion time of collective operations against their size."""

from __future__ import annotations

import altair as alt
import polars as pl

from nhalf.facts.collectives import standard
from nhalf.facts.facts import Facts
from nhalf.present.charts.curves import time_curves
from nhalf.present.panels import Panel


class Collectives(Panel[Facts]):
    title = "Collective operations"
    how_to_read = (
        "Lower is faster: the time from the moment when the first process starts the operation to "
        "the moment when the last one has finished it; all start together on synchronised clocks, "
        "and the band is the 95 % interval over launches."
    )
    order = 50

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = standard(facts.sound).filter(pl.col("pattern") != "barrier")
        return time_curves(points, facts, "completion time")
