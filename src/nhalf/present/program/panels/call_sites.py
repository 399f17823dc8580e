# SPDX-License-Identifier: Apache-2.0
"""The places in the program that cost most."""

from __future__ import annotations

from nhalf.base.numbers import percent, whole
from nhalf.base.units import format_time
from nhalf.facts.program.call_sites import calls_by_place
from nhalf.facts.program.program import Program
from nhalf.present.panels import Panel, Table
from nhalf.present.program.sizes import size_span

ROWS_MAX = 12


class CallSites(Panel[Program]):
    title = "Where MPI is called"
    how_to_read = (
        "Calls by their place in the program, the most expensive first, with their smallest and "
        "largest size; the share is that of all ranks' time."
    )
    order = 8

    def render(self, program: Program) -> Table | None:
        rows = [
            [
                row["place"],
                row["function"],
                row["call"],
                size_span(row["least_bytes"], row["most_bytes"]),
                whole(row["count"]),
                format_time(row["time_s"] / max(1, program.ranks)),
                percent(row["share"]) if row["share"] is not None else "–",
            ]
            for row in calls_by_place(program).iter_rows(named=True)
            if row["place"]
        ]
        if not rows:
            return None
        columns = ["place", "function", "call", "sizes", "calls", "time per rank", "of the run"]
        return Table.shortened(columns, rows, ROWS_MAX)
