# SPDX-License-Identifier: Apache-2.0
"""How long launches took to start."""

from __future__ import annotations

from statistics import median

from nhalf.base.numbers import MISSING, span
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table


class StartTimes(Panel[Facts]):
    title = "Start of a launch"
    how_to_read = (
        "What a launch costs before its first message: from starting the launcher until all ranks "
        "have called MPI_Init and are ready; a budget has more launches where this is short."
    )
    order = 88

    def render(self, facts: Facts) -> Table | None:
        runs = facts.find_start_times_s()
        rows = [
            [
                *([run] if len(runs) > 1 else []),
                facts.titles.get(subject, subject),
                str(ranks),
                placement,
                str(len(times_s)),
                format_time(median(times_s)),
                span(min(times_s), max(times_s), format_time) if len(times_s) > 1 else MISSING,
            ]
            for run, starts in runs.items()
            for (subject, ranks, placement), times_s in sorted(starts.items())
            if times_s
        ]
        head = ["library", "ranks", "placement", "launches", "median", "range"]
        return Table([*(["run"] if len(runs) > 1 else []), *head], rows) if rows else None
