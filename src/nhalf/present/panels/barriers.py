# SPDX-License-Identifier: Apache-2.0
"""What a barrier costs."""

from __future__ import annotations

import polars as pl

from nhalf.base.operations import NATIVE
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label, sound
from nhalf.present.charts import common
from nhalf.present.panels import Panel, Table


class Barriers(Panel):
    title = "Barriers"
    how_to_read = (
        "The time until everybody knows that everybody has arrived: no program that synchronises "
        "can run its steps faster than this; first and last are the processes that leave earliest "
        "and latest."
    )
    order = 54

    def render(self, data: Facts) -> Table | None:
        points = sound(data.summary).filter(
            pl.col("pattern").is_in(["barrier", "ibarrier"]) & (pl.col("axes") == "")
        )
        if points.is_empty():
            return None
        rows = []
        for row in points.sort("pattern", "ranks", "median_s").to_dicts():
            times = row["rank_s"] or [row["median_s"]]
            rows.append(
                [
                    library_label(data, row["transport"], row["mpi"]),
                    _kind(row),
                    str(row["ranks"]),
                    format_time(row["median_s"]),
                    common.interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
                    format_time(min(times)),
                    format_time(max(times)),
                    ", ".join(row["advice"]) or "–",
                ]
            )
        columns = ["library", "kind", "ranks", "time", "95 % interval", "first", "last", "doubts"]
        return Table(columns, rows)


def _kind(row: common.Row) -> str:
    """The library's own barrier, one of ours, or one that is started and waited for."""
    if row["pattern"] != "barrier":
        return "non-blocking"
    return "barrier" if row["algorithm"] in (NATIVE, "") else str(row["algorithm"])
