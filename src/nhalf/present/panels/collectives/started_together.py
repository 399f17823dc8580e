# SPDX-License-Identifier: Apache-2.0
"""How far a start after a barrier misleads, and how well the clocks agree."""

from __future__ import annotations

from nhalf.base.numbers import times
from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.collectives import started_both_ways
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.panels import Panel, Table

ROWS_MAX = 60


class StartedTogether(Panel[Facts]):
    title = "Started together, or after a barrier"
    how_to_read = (
        "Most benchmarks start an operation when a process leaves a barrier, and processes leave "
        "a barrier at different times: the ratio is that time over the time of an operation "
        "that all start together; the last column is how well the clocks agree."
    )
    order = 58

    def render(self, facts: Facts) -> Table | None:
        points = started_both_ways(facts)
        if points.is_empty():
            return None
        rows = [_cells(row, facts) for row in points.to_dicts()]
        return Table.shortened(
            [
                "library",
                "operation",
                "size",
                "together",
                "after a barrier",
                "ratio",
                "its first start to last end",
                "clocks agree within",
            ],
            rows,
            ROWS_MAX,
        )


def _cells(row: Row, facts: Facts) -> list[str]:
    unsure_s = row["clock_uncertainty_s"]
    algorithm = [] if row["algorithm"] in (NATIVE, "") else [row["algorithm"]]
    return [
        library_label(facts, row["transport"], row["mpi"]),
        ", ".join([row["pattern"], *algorithm, f"{row['ranks']} ranks"]),
        format_size(row["bytes"]) if row["bytes"] else "–",
        format_time(row["median_s"]),
        format_time(row["barrier_s"]),
        times(row["ratio"]).replace("x", "×"),
        "–" if row["true_s"] is None else format_time(row["true_s"]),
        "–" if unsure_s is None else format_time(unsure_s),
    ]
