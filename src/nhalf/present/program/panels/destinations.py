# SPDX-License-Identifier: Apache-2.0
"""What each process sends, and to how many others."""

from __future__ import annotations

from nhalf.base.units import format_size
from nhalf.facts.program.program import Program
from nhalf.facts.program.sends import destination_histogram, sends_by_rank, spread
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import count, count_text


class Destinations(Panel[Program]):
    title = "Sends of each process"
    how_to_read = (
        "The minimum, the mean and the maximum over all ranks; below, the number of ranks by "
        "number of destinations."
    )
    order = 60

    def render(self, program: Program) -> Table | None:
        if program.messages.is_empty():
            return None
        rows = []
        for name, title in (
            ("messages", "messages"),
            ("bytes", "bytes"),
            ("mean_bytes", "mean size"),
            ("destinations", "destinations"),
        ):
            distribution = spread(sends_by_rank(program)[name].drop_nulls())
            is_size = name.endswith("bytes")
            form = format_size if is_size else count_text
            rows.append([title, *map(form, distribution.values())])
        for row in destination_histogram(sends_by_rank(program)).iter_rows(named=True):
            to = count(row["destinations"], "destination")
            rows.append([to, count(row["ranks"], "rank"), "", ""])
        return Table(["per process", "min", "mean", "max"], rows)
