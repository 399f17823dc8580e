# SPDX-License-Identifier: Apache-2.0
"""The places in the program that cost most."""

from __future__ import annotations

from nhalf.base.numbers import percent, whole
from nhalf.base.units import format_size, format_time
from nhalf.facts.program.call_sites import call_sites
from nhalf.facts.program.program import Program
from nhalf.present.panels import Panel, Table

ROWS_MAX = 12


class CallSites(Panel[Program]):
    title = "Where MPI is called"
    how_to_read = (
        "Calls by their place in the program and their size, the most expensive first; the share "
        "is that of all ranks' time."
    )
    order = 8

    def render(self, program: Program) -> Table | None:
        rows = [
            [
                row["place"],
                row["function"],
                row["call"],
                format_size(row["size_bytes"]),
                whole(row["count"]),
                format_time(row["time_s"] / max(1, program.ranks)),
                percent(row["share"]) if row["share"] is not None else "–",
            ]
            for row in call_sites(program).iter_rows(named=True)
        ]
        if not rows:
            return None
        columns = ["place", "function", "call", "size", "calls", "time per rank", "of the run"]
        return Table.shortened(columns, rows, ROWS_MAX)
