# SPDX-License-Identifier: Apache-2.0
"""How long the root of a broadcast or scatter is busy, by algorithm."""

from __future__ import annotations

import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.algorithms import algorithm_name, root_medians
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.charts.lines import some_sizes
from nhalf.present.panels import Panel, Table

SIZES_SHOWN = 3
ROWS_MAX = 60


class RootBusy(Panel[Facts]):
    title = "How long the root is busy"
    how_to_read = (
        "The root of an operation may continue before all others are done: the algorithm that "
        "completes first is not always the one that frees the root first."
    )
    order = 59

    def render(self, facts: Facts) -> Table | None:
        points = root_medians(facts)
        several = points.filter(pl.col("algorithm").n_unique().over("pattern", "mpi") > 1)
        if several.is_empty():
            return None
        shown = several.filter(
            pl.col("bytes").is_in(some_sizes(several["bytes"].to_list(), SIZES_SHOWN)),
            pl.col("ranks") == pl.col("ranks").max().over("pattern", "mpi"),
        ).sort("mpi", "pattern", "bytes", "complete_s", maintain_order=True)
        rows = [_cells(row, facts) for row in shown.iter_rows(named=True)]
        columns = ["library", "operation", "size", "algorithm", "completion", "root busy", "share"]
        return Table.shortened(columns, rows, ROWS_MAX)


def _cells(row: Row, facts: Facts) -> list[str]:
    return [
        library_label(facts, row["transport"], row["mpi"]),
        f"{row['pattern']}, {row['ranks']} ranks",
        format_size(row["bytes"]),
        algorithm_name(row["algorithm"]),
        format_time(row["complete_s"]),
        format_time(row["root_s"]),
        percent(row["root_s"] / row["complete_s"]),
    ]
