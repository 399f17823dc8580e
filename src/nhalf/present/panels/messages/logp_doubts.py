# SPDX-License-Identifier: Apache-2.0
"""The limits of LogP for a library, and deviations of the library from the model."""

from __future__ import annotations

from nhalf.facts.facts import Facts
from nhalf.facts.series import logp_rows
from nhalf.present.panels import Panel, Table


class LogPDoubts(Panel[Facts]):
    title = "Limits of LogP"
    how_to_read = (
        "A model with five parameters is simpler than a library: where it leaves something out, "
        "check predictions made with it."
    )
    order = 46

    def render(self, facts: Facts) -> Table | None:
        rows = [
            [library["series"], f"{limit}."]
            for library in logp_rows(facts)
            for limit in [library["missing"], *library["doubts"]]
            if limit
        ]
        return Table(["library", "what to know"], rows) if rows else None
