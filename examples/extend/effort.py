# SPDX-License-Identifier: Apache-2.0
"""How many samples each pattern got: a panel that is a table."""

from __future__ import annotations

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table


class Effort(Panel[Facts]):
    """Samples of each pattern, over all libraries and sizes."""

    title = "Effort"
    how_to_read = "More samples are more certainty: each row counts those of one pattern."
    order = 900

    def render(self, facts: Facts) -> Table | None:
        """One row per pattern; hidden where nothing was measured."""
        if facts.summary.is_empty():
            return None
        counted = facts.summary.group_by("pattern").agg(pl.col("samples").sum()).sort("pattern")
        return Table(["pattern", "samples"], [[str(a), str(b)] for a, b in counted.rows()])
