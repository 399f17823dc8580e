# SPDX-License-Identifier: Apache-2.0
"""Concurrent messages of several threads of each rank."""

from __future__ import annotations

import altair as alt

from nhalf.facts.facts import Facts
from nhalf.facts.variants import THREADS
from nhalf.present.charts.ways import ways_chart
from nhalf.present.panels import Panel
from nhalf.present.wording import threads_name


class Threads(Panel[Facts]):
    title = "Several threads of each rank"
    how_to_read = (
        "Each line is a number of threads that send at the same time, through one communicator or "
        "one for each, as a multiple of the time that one thread takes in the same launch: at 1× "
        "threads do not disturb each other, and at the number of threads they are serialised."
    )
    order = 35
    patterns = THREADS.patterns

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return ways_chart(facts, THREADS, threads_name, "one thread")
