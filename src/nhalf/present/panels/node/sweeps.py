# SPDX-License-Identifier: Apache-2.0
"""Loads and stores over arrays again and again, by size and stride."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.node.reading import SWEEP_STRIDES
from nhalf.present.charts import common
from nhalf.present.charts.lines import lines
from nhalf.present.panels import Panel
from nhalf.results.sweeps import KINDS


class Sweeps(Panel[Facts]):
    title = "Loads and stores by stride"
    how_to_read = (
        "Cycles of an access that waits for no other, over an array again and again: where lines "
        "are used in part only, each access costs what a line costs, and small strides share it."
    )
    order = 79
    patterns = tuple(KINDS)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for sweep in facts.results.get("sweeps", []) for row in _rows(sweep)]
        if not rows:
            return None
        return lines(
            rows,
            (
                alt.X(
                    "bytes:Q",
                    title="array",
                    scale=alt.Scale(type="log", base=2),
                    axis=alt.Axis(values=common.SIZE_TICKS, labelExpr=common.SIZE_LABEL),
                ),
                alt.Y("cycles:Q", title="cycles of an access", scale=alt.Scale(type="log")),
            ),
            kinds=[f"every {stride} B" for stride in SWEEP_STRIDES],
            facets=("access", [f"{kind}s" for kind in KINDS.values()]),
            tooltip=[
                alt.Tooltip("size:N", title="array"),
                alt.Tooltip("kind:N", title="access"),
                alt.Tooltip("cycles:Q", title="cycles"),
            ],
        )


def _rows(sweep: Row) -> list[Row]:
    return [
        {
            "bytes": sweep["size_bytes"],
            "size": format_size(sweep["size_bytes"]),
            "access": f"{kind}s",
            "kind": f"every {stride} B",
            "cycles": common.digits(cycles, 3),
        }
        for kind in KINDS.values()
        for stride in SWEEP_STRIDES
        if (cycles := sweep.get(f"{kind}_{stride}_cycles"))
    ]
