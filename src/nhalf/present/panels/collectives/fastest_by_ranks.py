# SPDX-License-Identifier: Apache-2.0
"""Which library is fastest in each collective operation, by size and number of ranks."""

from __future__ import annotations

from nhalf.facts.facts import Facts
from nhalf.present.fastest_by_ranks import fastest_by_ranks
from nhalf.present.panels import Panel, Table


class FastestByRanks(Panel[Facts]):
    title = "Fastest library by operation, size and ranks"
    how_to_read = (
        "Each cell names the fastest library and how many times as long the next one takes; "
        "where several are named, or none but a tie, they are too close to tell apart."
    )
    order = 43

    def render(self, facts: Facts) -> Table | None:
        columns, rows = fastest_by_ranks(facts)
        return Table(columns, rows) if rows else None
