# SPDX-License-Identifier: Apache-2.0
"""From a loop's lower bound to its measured time: every rung, and the cause of each gap."""

from __future__ import annotations

from nhalf.base.numbers import fixed, percent
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.loops.livermore.titles import PATTERN
from nhalf.present.panels import Panel, Table

RUNGS = ("ma_cycles", "mac_cycles", "macs_cycles", "cycles")


class Ladder(Panel[Facts]):
    title = "From the bound to the time"
    how_to_read = (
        "Cycles per iteration: what is essential in the source (MA), what the compiler emitted "
        "(MAC), that with the chain from one iteration to the next (MACS), and what it took; the "
        "largest step of more than a fifth has its cause and what helps."
    )
    order = 76
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> Table | None:
        rows = facts.results.get("ladder", [])
        if not rows:
            return None
        columns = ["kernel", "build", "MA", "MAC", "MACS", "measured", "share", "largest gap"]
        return Table(columns, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    rungs = ["–" if row[name] is None else fixed(row[name], 2) for name in RUNGS]
    why = f"{row['cause']}: {row['remedy']}" if row["cause"] else "–"
    share = "–" if row["share"] is None else percent(row["share"])
    return [row["kernel"], row["build"], *rungs, share, why]
