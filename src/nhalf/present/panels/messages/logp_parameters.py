# SPDX-License-Identifier: Apache-2.0
"""The parameters of the LogP family in a table: a row is a parameter, a column a library."""

from __future__ import annotations

from typing import Any

from nhalf.facts.facts import Facts
from nhalf.facts.series import logp_rows
from nhalf.present.panels import Panel, Table
from nhalf.results.logp import LogPResult

MEANINGS = {
    "half_round_trip_s": "time of a small message, half of its round trip",
    "latency_s": "part in transit, while both processors are free",
    "send_overhead_s": "part in the sender's processor",
    "recv_overhead_s": "part in the receiver's processor",
    "gap_s": "from one small message to the next",
    "gap_per_byte_s": "rate of large messages",
}
UNKNOWN = "not above 0"


class LogPParameters(Panel[Facts]):
    title = "Parameters of LogP"
    how_to_read = (
        "Every message costs its sender o_s and its receiver o_r of computing time and is in "
        "transit for L, during which a program can compute; each has its 95 % interval over "
        "launches."
    )
    order = 45

    def render(self, facts: Facts) -> Table | None:
        libraries = logp_rows(facts)
        if not libraries:
            return None
        rows = [
            [column.title, MEANINGS[column.name], *(_cell(row, place) for row in libraries)]
            for place, column in enumerate(LogPResult.columns)
        ]
        return Table(["", "what it is", *(row["series"] for row in libraries)], rows)


def _cell(row: dict[str, Any], place: int) -> str:
    """A value with its interval; a latency that cannot be told from 0 is not shown as one."""
    column = LogPResult.columns[place]
    if column.name == "latency_s" and row["identifiable"] is False:
        return UNKNOWN
    return column.cell(row)
