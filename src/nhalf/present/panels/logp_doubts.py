# SPDX-License-Identifier: Apache-2.0
"""What LogP cannot tell of a library, and where the library is not as the model assumes."""

from __future__ import annotations

from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table


class LogPDoubts(Panel):
    title = "What LogP does not say"
    how_to_read = (
        "A model with five parameters is simpler than a library: here is where it leaves something "
        "out, so that a prediction made with it has to be checked."
    )
    order = 46

    def render(self, facts: Facts) -> Table | None:
        rows = [
            [found["series"], f"{said}."]
            for found in facts.logp
            for said in [found["missing"], *found["doubts"]]
            if said
        ]
        return Table(["library", "what to know"], rows) if rows else None
