# SPDX-License-Identifier: Apache-2.0
"""Collective operations with their sizes and times."""

from __future__ import annotations

from nhalf.base.numbers import percent, whole
from nhalf.base.units import format_size, format_time
from nhalf.facts.program.collectives import collective_calls
from nhalf.facts.program.program import Program
from nhalf.present.panels import Panel, Table

ROWS_MAX = 30


class Collectives(Panel[Program]):
    title = "Collective operations"
    how_to_read = (
        "Each row is a call with one size on one communicator, those with the most time first; "
        "waiting is the share beyond the shortest call of each rank, and all of a barrier."
    )
    order = 70

    def render(self, program: Program) -> Table | None:
        rows = [
            [
                row["call"],
                format_size(row["size_bytes"]),
                str(row["ranks"]),
                str(row["communicator"]),
                whole(row["operations"]),
                format_time(row["time_s"] / max(1, row["operations"])),
                format_time(row["time_s"]),
                percent(row["waiting_s"] / row["time_s"]) if row["time_s"] else "–",
            ]
            for row in collective_calls(program).head(ROWS_MAX).iter_rows(named=True)
        ]
        if not rows:
            return None
        columns = ["call", "size", "ranks", "communicator", "operations", "each", "per rank"]
        return Table([*columns, "waiting"], rows)
