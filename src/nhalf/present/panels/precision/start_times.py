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
        "are ready to be asked; a budget has more launches where this is short."
    )
    order = 88

    def render(self, facts: Facts) -> Table | None:
        runs = facts.started
        rows = [
            [run, facts.titles.get(subject, subject), str(ranks), placement, *_numbers(times_s)]
            for run, starts in runs.items()
            for (subject, ranks, placement), launches in sorted(starts.items(), key=lambda x: x[0])
            if (times_s := [launch.start_s for launch in launches if launch.start_s is not None])
        ]
        columns = ["run", "library", "ranks", "placement", "launches", "median", "range"]
        first = 0 if len(runs) > 1 else 1
        return Table(columns[first:], [row[first:] for row in rows]) if rows else None


def _numbers(times_s: list[float]) -> list[str]:
    """How many launches, their median and their range."""
    ends = span(min(times_s), max(times_s), format_time) if len(times_s) > 1 else MISSING
    return [str(len(times_s)), format_time(median(times_s)), ends]
