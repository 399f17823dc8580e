# SPDX-License-Identifier: Apache-2.0
"""How far a start after a barrier misleads, and how well the clocks agree."""

from __future__ import annotations

import polars as pl

from nhalf.base.operations import NATIVE, OPERATIONS
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label, sound
from nhalf.present.charts import common
from nhalf.present.panels import Panel, Table
from nhalf.store.keys import VARIED_POINT
from nhalf.store.values import value

ROWS_MAX = 60


class StartedTogether(Panel):
    title = "Started together, or after a barrier"
    how_to_read = (
        "Most benchmarks start an operation when a barrier lets a process go, and processes leave "
        "a barrier at different times: the ratio says how far that is from the time of an "
        "operation that all start together; the last column is how well the clocks agree."
    )
    order = 58

    def render(self, data: Facts) -> Table | None:
        points = sound(data.summary).filter(pl.col("pattern").is_in(OPERATIONS))
        together = points.filter(pl.col("axes") == "").with_columns(value("clock_uncertainty_s"))
        barrier = points.filter(pl.col("axes") == "start=barrier").with_columns(value("true_s"))
        both = together.join(
            barrier.select(*VARIED_POINT, "true_s", barrier_s="median_s"),
            on=VARIED_POINT,
            nulls_equal=True,
        )
        if both.is_empty():
            return None
        worst = both.with_columns(ratio=pl.col("barrier_s") / pl.col("median_s")).sort(
            pl.col("ratio").log().abs(), descending=True
        )
        rows = [_cells(row, data) for row in worst.head(ROWS_MAX).to_dicts()]
        return Table(
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
        )


def _cells(row: common.Row, data: Facts) -> list[str]:
    unsure_s = row["clock_uncertainty_s"]
    algorithm = [] if row["algorithm"] in (NATIVE, "") else [row["algorithm"]]
    return [
        library_label(data, row["transport"], row["mpi"]),
        ", ".join([row["pattern"], *algorithm, f"{row['ranks']} ranks"]),
        format_size(row["bytes"]) if row["bytes"] else "–",
        format_time(row["median_s"]),
        format_time(row["barrier_s"]),
        f"{row['ratio']:.2f}×",
        "–" if row["true_s"] is None else format_time(row["true_s"]),
        "–" if unsure_s is None else format_time(unsure_s),
    ]
