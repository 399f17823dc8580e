# SPDX-License-Identifier: Apache-2.0
"""The latency of a load against the memory that is loaded from, with the caches marked."""

from __future__ import annotations

import math

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.node import NodeFacts, nodes
from nhalf.node.reading import CHASE
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.results.caches import size_words


class LoadLatency(Panel[Facts]):
    title = "Memory hierarchy"
    how_to_read = (
        "The load-to-use latency: the time of a load whose address comes from the load before, in "
        "random order over so much memory: each step is a cache that became too small, in small "
        "pages also a table of addresses, and dashed lines are the sizes of caches as their "
        "conflicts show them, or the middle of the sizes at which arrays begin to miss."
    )
    order = 73
    patterns = (CHASE,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for node in nodes(facts) for row in _rows(node)]
        if not rows:
            return None
        marks = [row for node in nodes(facts) for row in _marks(node)]
        base = alt.Chart(common.data_of(rows)).encode(
            x=alt.X(
                "bytes:Q",
                title="memory that is loaded from",
                scale=alt.Scale(type="log", base=2),
                axis=alt.Axis(values=common.SIZE_TICKS, labelExpr=common.SIZE_LABEL),
            ),
            y=common.log_axis("time_s", "load-to-use latency", rows, common.TIME_LABEL),
            color=alt.Color("kind:N", title=None),
        )
        points = base.mark_point(filled=True, size=36, opacity=1).encode(
            tooltip=[
                alt.Tooltip("size:N", title="memory"),
                alt.Tooltip("words:N", title="load-to-use latency"),
                alt.Tooltip("cycles:Q", title="cycles"),
            ]
        )
        layers: list[alt.Chart] = [base.mark_line(), points]
        if marks:
            sizes = alt.Chart(common.data_of(marks)).encode(x=alt.X("bytes:Q"))
            layers.append(sizes.mark_rule(strokeDash=[4, 4], opacity=0.6))
            layers.append(
                sizes.mark_text(align="right", dx=-4, baseline="top").encode(
                    text="name:N", y=alt.value(4)
                )
            )
        return alt.layer(*layers).properties(width="container", height=common.CHART_HEIGHT)


def _rows(node: NodeFacts) -> list[Row]:
    steps_by_pages = (("huge pages", node.steps), ("small pages", node.small_steps))
    return [
        {
            "kind": f"{node.run}, {pages}",
            "bytes": step.size_bytes,
            "time_s": common.digits(step.latency_s),
            "size": format_size(step.size_bytes),
            "words": format_time(step.latency_s),
            "cycles": common.digits(step.cycles_median, 3),
        }
        for pages, steps in steps_by_pages
        for step in steps
    ]


def _marks(node: NodeFacts) -> list[Row]:
    return [
        {
            "name": f"L{level.level} {size_words(level.size_bytes, level.size_ci)}",
            "bytes": level.size_bytes or round(math.sqrt(math.prod(level.size_ci or ()))),
        }
        for level in node.levels.levels
        if level.size_bytes or level.size_ci
    ]
