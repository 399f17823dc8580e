# SPDX-License-Identifier: Apache-2.0
"""The effective bandwidth of every library, in the columns in which machines are compared."""

from __future__ import annotations

from dataclasses import replace

from nhalf.facts.facts import Facts
from nhalf.facts.series import with_names
from nhalf.present.panels import Panel, Table
from nhalf.results.b_eff import EffectiveBandwidth


class BEff(Panel[Facts]):
    title = "Effective bandwidth (b_eff)"
    how_to_read = (
        "One number for a whole machine: all processes send to two neighbours at once, and the "
        "rate is averaged over short and long messages and over near and far neighbours, so that "
        "higher is better and machines of different size compare by the number per process."
    )
    order = 70

    def render(self, facts: Facts) -> Table | None:
        averages = with_names(facts.results.get("b_eff", []), facts)
        if not averages:
            return None
        columns = [
            replace(column, with_interval=True)
            for column in EffectiveBandwidth.columns
            if any(row.get(column.name) is not None for row in averages)
        ]
        cells = [
            [row["series"], str(row["ranks"]), *(column.cell(row) for column in columns)]
            for row in averages
        ]
        titles = ["library", "processes", *(column.title for column in columns)]
        if any(row["missing"] for row in averages):
            titles.append("what is missing")
            cells = [[*line, row["missing"]] for line, row in zip(cells, averages, strict=True)]
        return Table(titles, cells)
