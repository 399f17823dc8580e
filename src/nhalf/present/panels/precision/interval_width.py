# SPDX-License-Identifier: Apache-2.0
"""The points that did not reach their target precision: listed, not hidden."""

from __future__ import annotations

from nhalf.base.numbers import half_width_text
from nhalf.base.units import format_size, format_time
from nhalf.facts.certainty.precision import missed
from nhalf.facts.facts import Facts
from nhalf.facts.series import full_name
from nhalf.present.panels import Panel, Table

ROWS_MAX = 10


class IntervalWidth(Panel[Facts]):
    title = "Points below the requested precision"
    how_to_read = (
        "The ten points farthest from the run's target precision, widest first: read their "
        "numbers with their interval, or measure again with more time or more launches."
    )
    order = 80

    def render(self, facts: Facts) -> Table | None:
        points = missed(facts)
        if points.is_empty():
            return None
        rows = [
            [
                row["series"],
                full_name(row),
                format_size(row["bytes"]),
                format_time(row["median_s"]),
                half_width_text(row["half_width"]),
                str(row["launches"]),
                ", ".join(row["advice"] or []) or "–",
            ]
            for row in points.iter_rows(named=True)
        ]
        columns = ["library", "pattern", "size", "time", "half-width", "launches", "warnings"]
        return Table.shortened(columns, rows, ROWS_MAX)
