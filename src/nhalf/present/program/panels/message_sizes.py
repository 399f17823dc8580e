# SPDX-License-Identifier: Apache-2.0
"""How large messages are: the cumulative distribution by number and by bytes."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.facts.program.program import Program
from nhalf.facts.program.sizes import message_sizes
from nhalf.present.charts import common
from nhalf.present.panels import Panel

SIZES_MIN = 2
"""A single size is no distribution: a finding names it."""
SIZES_MAX = 200
KINDS = {"messages": "of the messages", "bytes": "of the bytes"}


class MessageSizes(Panel[Program]):
    title = "Message sizes"
    how_to_read = (
        "At each size, the share of messages that are no larger, and the share of all bytes that "
        "they carry: where messages rise early and bytes late, most messages are small and few "
        "large ones carry the data."
    )
    order = 20

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        if message_sizes(program).height < SIZES_MIN:
            return None
        rows = _rows(program)
        kinds = list(KINDS.values())
        color = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds)
        base = alt.Chart(common.data_of(rows)).encode(
            x=common.size_axis().scale(type="symlog", constant=1, domain=_reach(rows)),
            y=alt.Y(
                "share:Q",
                title="share of this size or smaller",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%"),
            ),
            color=color,
        )
        lines = base.mark_line(interpolate="step-after", strokeWidth=2)
        points = base.mark_point(filled=True, size=42, opacity=1).encode(
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds),
            tooltip=[
                alt.Tooltip("size:N", title="size"),
                alt.Tooltip("count:Q", title="messages of this size"),
                alt.Tooltip("kind:N", title="share"),
                alt.Tooltip("share:Q", title="no larger", format=".1%"),
            ],
        )
        return alt.layer(lines, points).properties(width="container", height=common.CHART_HEIGHT)


def _reach(rows: list[Row]) -> list[float]:
    """From half of the smallest size to twice the largest: a single size has an axis as well."""
    sizes = [row["bytes"] for row in rows]
    return [min(sizes) / 2, max(1, *sizes) * 2]


def _rows(program: Program) -> list[Row]:
    sizes = message_sizes(program)
    if sizes.height > SIZES_MAX:
        step = sizes.height // SIZES_MAX + 1
        sizes = sizes.with_row_index("at").filter(
            sizes["messages_share"].rank("ordinal") % step == 0
        )
    return [
        {
            "kind": words,
            "bytes": row["size_bytes"],
            "size": format_size(row["size_bytes"]),
            "count": row["messages"],
            "share": common.digits(row[f"{name}_share"]),
        }
        for row in sizes.iter_rows(named=True)
        for name, words in KINDS.items()
    ]
