# SPDX-License-Identifier: Apache-2.0
"""Where and with what the runs were measured."""

from __future__ import annotations

from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table
from nhalf.store.environment import flat

ROWS_MAX = 60


class Environment(Panel[Facts]):
    title = "Environment"
    how_to_read = (
        "What the numbers depend on: repeat a measurement elsewhere and compare this list first."
    )
    order = 90

    def render(self, facts: Facts) -> Table | None:
        runs = {run: dict(flat(values)) for run, values in facts.environments.items()}
        keys = list(dict.fromkeys(key for values in runs.values() for key in values))
        if not keys:
            return None
        rows = [
            [key, *(values.get(key, "–") for values in runs.values())] for key in keys[:ROWS_MAX]
        ]
        if len(keys) > ROWS_MAX:
            rows.append([f"and {len(keys) - ROWS_MAX} more in run.json", *("" for _ in runs)])
        return Table(["", *runs], rows)
