# SPDX-License-Identifier: Apache-2.0
"""The parameters of the LogP family in a table, with what cannot be told."""

from __future__ import annotations

from typing import Any

from nhalf.panels import Panel, ReportData, Table
from nhalf.panels.logp import with_series
from nhalf.results.logp import LogPResult

UNKNOWN = "not above 0"


class LogPParameters(Panel):
    title = "Parameters of LogP"
    how_to_read = (
        "A small message takes half of the round trip RTT: o_s in the sender's processor, L on its "
        "way, o_r in the receiver's processor; a program can compute during L, and "
        "messages follow each other every g, large ones at the rate 1/G."
    )
    order = 45

    def render(self, data: ReportData) -> Table | None:
        found = with_series(data)
        if not found:
            return None
        columns = ["library", *(column.title for column in LogPResult.columns), "what to know"]
        return Table(columns, [_cells(row) for row in found])


def _cells(row: dict[str, Any]) -> list[str]:
    cells = [column.cell(row) for column in LogPResult.columns]
    if row["identifiable"] is False:
        place = [column.name for column in LogPResult.columns].index("latency_s")
        cells[place] = UNKNOWN
    said = [text for text in [row["missing"], *row["doubts"]] if text]
    return [row["series"], *cells, ". ".join(said) or "–"]
