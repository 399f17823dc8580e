# SPDX-License-Identifier: Apache-2.0
"""What a barrier costs."""

from __future__ import annotations

from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.collectives import barriers
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import interval_text


class Barriers(Panel[Facts]):
    title = "Barriers"
    how_to_read = (
        "The time until every process knows that all have arrived: a program that synchronises in "
        "every step cannot step faster than this; first and last are the ranks that leave earliest "
        "and latest, by the median of each rank: where the latest is another one each time, even "
        "the last may be below the time."
    )
    order = 54

    def render(self, facts: Facts) -> Table | None:
        points = barriers(facts)
        if points.is_empty():
            return None
        rows = [
            [
                library_label(facts, row["transport"], row["mpi"]),
                _kind(row),
                str(row["ranks"]),
                format_time(row["median_s"]),
                interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"]),
                format_time(row["first_s"]),
                format_time(row["last_s"]),
                ", ".join(row["advice"]) or "–",
            ]
            for row in points.to_dicts()
        ]
        columns = ["library", "kind", "ranks", "time", "95 % interval", "first", "last", "warnings"]
        return Table(columns, rows)


def _kind(row: Row) -> str:
    """The library's own barrier, one of ours, or one that is started and waited for."""
    if row["pattern"] != "barrier":
        return "non-blocking"
    return "barrier" if row["algorithm"] in (NATIVE, "") else str(row["algorithm"])
