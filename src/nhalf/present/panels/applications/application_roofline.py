# SPDX-License-Identifier: Apache-2.0
"""Applications beside what the measured node allows."""

from __future__ import annotations

from nhalf.base.numbers import fixed, percent
from nhalf.facts.facts import Facts
from nhalf.facts.roofline import reached
from nhalf.node.bandwidth import MEMORY
from nhalf.present.panels import Panel, Table

LIMITS = {MEMORY: "memory bandwidth", "units": "floating-point units"}


class ApplicationRoofline(Panel[Facts]):
    title = "Applications: how near to the machine's limits"
    how_to_read = (
        "The operations per second of a kernel, as the reference counts them, the maximum that "
        "the node's floating-point units or memory allow by the roofline model, and the share "
        "reached; classes S and W fit into caches, so only the units limit them."
    )
    order = 87

    def render(self, facts: Facts) -> Table | None:
        rows = [
            [
                application.kernel,
                application.series,
                str(application.workers),
                fixed(application.rate_per_s / 1e9, 2),
                fixed(application.bound_per_s / 1e9, 2),
                LIMITS[application.limit],
                percent(application.share),
            ]
            for application in reached(facts)
        ]
        columns = ["kernel", "run by", "ranks or threads", "Gop/s", "bound", "limit", "reached"]
        return Table(columns, rows) if rows else None
