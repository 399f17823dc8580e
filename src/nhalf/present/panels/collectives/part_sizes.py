# SPDX-License-Identifier: Apache-2.0
"""The fastest size of parts by algorithm, number of ranks and message size."""

from __future__ import annotations

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.part_sizes import best_parts
from nhalf.facts.series import library_label
from nhalf.present.panels import Panel, Table

ROWS_MAX = 60


class PartSizes(Panel[Facts]):
    title = "The best size of parts"
    how_to_read = (
        "An algorithm that cuts messages fills its chain or tree sooner with small parts, and "
        "pays fewer startups with large ones: the fastest size of those that were measured."
    )
    order = 61

    def render(self, facts: Facts) -> Table | None:
        best = best_parts(facts).sort("mpi", "pattern", "algorithm", "ranks", "bytes")
        if best.is_empty():
            return None
        rows = [_cells(row, facts) for row in best.iter_rows(named=True)]
        columns = ["library", "operation", "algorithm", "size", "best part", "time", "saves"]
        return Table.shortened(columns, rows, ROWS_MAX)


def _cells(row: Row, facts: Facts) -> list[str]:
    saved = 1 - row["median_s"] / row["usual_s"] if row["usual_s"] else None
    return [
        library_label(facts, row["transport"], row["mpi"]),
        f"{row['pattern']}, {row['ranks']} ranks",
        row["algorithm"],
        format_size(row["bytes"]),
        format_size(row["part_bytes"]),
        format_time(row["median_s"]),
        "" if saved is None else percent(saved),
    ]
