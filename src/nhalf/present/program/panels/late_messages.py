# SPDX-License-Identifier: Apache-2.0
"""Pairs of ranks of which one waits for messages of the other."""

from __future__ import annotations

from nhalf.base.numbers import format_number, whole
from nhalf.base.units import format_size, format_time
from nhalf.facts.program.late_messages import late_pairs
from nhalf.facts.program.program import Program
from nhalf.present.panels import Panel, Table

ROWS_MAX = 30
COLUMNS = ("rank", "waits for", "cause", "late", "of", "waiting", "longest", "size", "from")


class LateMessages(Panel[Program]):
    title = "Late messages"
    how_to_read = (
        "Each row is a rank that waits for messages of another, those with the most time first: "
        "how many of their messages were late, how long it waited for all of them and for the "
        "worst, and the size and time of that one, to be found in a timeline."
    )
    order = 45

    def render(self, program: Program) -> Table | None:
        rows = [
            [
                str(row["rank"]),
                str(row["late_rank"]),
                row["cause"],
                whole(row["messages"]),
                whole(row["of_messages"]),
                format_time(row["waiting_s"]),
                format_time(row["longest_s"]),
                format_size(row["size_bytes"]),
                f"{format_number(row['from_s'], 6)} s",
            ]
            for row in late_pairs(program).head(ROWS_MAX).iter_rows(named=True)
        ]
        return Table(list(COLUMNS), rows) if rows else None
