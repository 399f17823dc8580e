# SPDX-License-Identifier: Apache-2.0
"""The effective bandwidth of every library, in the columns in which machines are compared."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.present.panels import Panel, Table
from nhalf.results.b_eff import EffectiveBandwidth


class BEff(Panel):
    title = "Effective bandwidth (b_eff)"
    how_to_read = (
        "One number for a whole machine: all processes send to two neighbours at once, and the "
        "rate is averaged over short and long messages and over near and far neighbours, so that "
        "higher is better and machines of different size compare by the number per process."
    )
    order = 70

    def render(self, data: Facts) -> Table | None:
        found = data.results.get("b_eff", [])
        if not found:
            return None
        columns = [
            replace(column, with_interval=True)
            for column in EffectiveBandwidth.columns
            if any(row.get(column.name) is not None for row in found)
        ]
        names = ["run", "transport", "mpi", "ranks", "placement"]
        subjects = pl.DataFrame([{name: row[name] for name in names} for row in found])
        subjects = subjects.with_columns(algorithm=pl.lit("native"), axes=pl.lit(""))
        series = with_series(subjects, data)["series"]
        cells = [
            [name, str(row["ranks"]), *(column.cell(row) for column in columns)]
            for name, row in zip(series, found, strict=True)
        ]
        titles = ["library", "processes", *(column.title for column in columns)]
        if any(row["missing"] for row in found):
            titles.append("what is missing")
            cells = [[*line, row["missing"]] for line, row in zip(cells, found, strict=True)]
        return Table(titles, cells)
