# SPDX-License-Identifier: Apache-2.0
"""Throughput per cycle of a core's units, and their latency."""

from __future__ import annotations

from nhalf.base.numbers import fixed
from nhalf.facts.facts import Facts
from nhalf.facts.node import nodes
from nhalf.node.reading import UNIT
from nhalf.present.panels import Panel, Table


class Units(Panel[Facts]):
    title = "Units of a core"
    how_to_read = (
        "The number of operations of each kind that start per cycle if nothing else does, and the "
        "cycles until a result can be used: a loop of dependent operations takes the latency of "
        "each, any other the sum of their shares of a cycle."
    )
    order = 74
    patterns = (UNIT,)

    def render(self, facts: Facts) -> Table | None:
        rows = [
            [
                operation.name.replace("_", " "),
                operation.width,
                fixed(operation.per_cycle, 2),
                fixed(operation.latency_cycles, 1) if operation.latency_cycles else "–",
                operation.doubt or "",
            ]
            for node in nodes(facts)
            for operation in node.operations
        ]
        if not rows:
            return None
        return Table(["operation", "width", "a cycle", "latency, cycles", "doubt"], rows)
