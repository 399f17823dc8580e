"""Panels on the messages of a program: between whom, and how large."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.facts.program.messages import (
    by_traffic,
    communication_matrix,
    destination_histogram,
    hosts_together,
    message_sizes,
    sends_by_rank,
)
from nhalf.facts.program.program import Program
from nhalf.present.charts import common
from nhalf.present.panels import Panel, Table
from nhalf.present.program.terminal import sends_rows
from nhalf.present.wording import count

RANKS_MIN = 3
"""Two ranks are described in a sentence."""
MEMBERS_MAX = 64
"""More ranks are drawn as this many groups of neighbours."""
BYTES, MESSAGES = "bytes", "messages"
ALIKE = 10.0
"""Where no pair sends this many times as much as another, colours are linear, from 0 on."""
_LABEL = f"chosen === '{BYTES}' ? {common.BYTES_LABEL} : format(datum.value, '~s')"


class Matrix(Panel[Program]):
    title = "Communication matrix"
    how_to_read = (
        "Each cell is what the rank of its row sends to the rank of its column, brighter the more; "
        "stripes beside the diagonal are neighbours, a bright row or column is one rank that "
        "communicates with all, and ordered by traffic, squares along the diagonal are groups that "
        "belong on one node."
    )
    order = 10

    def render(self, program: Program) -> alt.TopLevelMixin | None:
        if program.sent.is_empty() or program.ranks < RANKS_MIN:
            return None
        rows = [
            row
            for name, order in _orders(program).items()
            for row in _matrix_rows(program, name, order)
        ]
        orders = list(dict.fromkeys(row["order"] for row in rows))
        values = [row["value"] for row in rows if row["measure"] == BYTES]
        size = alt.Color(
            "value:Q",
            title="sent per pair",
            # Alike pairs look alike: colours of nearly the same values must not differ.
            scale=alt.Scale(scheme="viridis", zero=True)
            if not values or max(values) < ALIKE * min(values)
            else alt.Scale(type="log", scheme="viridis"),
            legend=alt.Legend(gradientLength=180, tickCount=3, labelExpr=_LABEL),
        )
        step = math.ceil(program.ranks / MEMBERS_MAX)
        unit = "rank" if step == 1 else f"groups of {step} ranks"
        axis = alt.Axis(labelOverlap=True, ticks=False, domain=False, labelAngle=0)
        titles = {"from": "from", "to": "to", "bytes_text": "bytes", "messages": "messages"}
        x = alt.X("x:O", title=f"to {unit}", axis=axis)
        y = alt.Y("y:O", title=f"from {unit}", axis=axis)
        chart: alt.Chart = (
            alt.Chart(common.data_of(rows))
            .mark_rect()
            .encode(x=x, y=y, color=size, tooltip=common.tooltip(rows, **titles))
            .transform_filter("datum.order === ordered && datum.measure === chosen")
            .add_params(
                common.choice("chosen", [BYTES, MESSAGES], BYTES, "Show"),
                common.choice("ordered", orders, orders[0], "Order"),
            )
            .properties(width="container", height=common.CHART_HEIGHT + 60)
        )
        return chart


def _orders(program: Program) -> dict[str, Sequence[int]]:
    orders: dict[str, Sequence[int]] = {"by rank": range(program.ranks)}
    if len(set(program.hosts)) > 1:
        orders["by host"] = hosts_together(program.hosts)
    if 3 <= program.ranks <= MEMBERS_MAX:
        orders["by traffic"] = by_traffic(communication_matrix(program).bytes)
    return orders


def _matrix_rows(program: Program, order_name: str, order: Sequence[int]) -> list[Row]:
    """The cells of one order for both measures; places are names of ranks or of groups."""
    matrix = communication_matrix(program).ordered(list(order))
    step = math.ceil(program.ranks / MEMBERS_MAX)
    sizes, messages = _grouped(matrix.bytes, step), _grouped(matrix.messages, step)
    width = len(str(program.ranks))
    rows: list[Row] = []
    for i, j in np.argwhere(messages > 0):
        ends = [_name(matrix.names, int(place), step) for place in (i, j)]
        rows += [
            {
                **{"order": order_name, "measure": measure, "value": float(value)},
                **{"y": f"{int(i):0{width}d}", "x": f"{int(j):0{width}d}"},
                **{"from": ends[0], "to": ends[1]},
                **{"bytes_text": format_size(sizes[i, j]), "messages": int(messages[i, j])},
            }
            for measure, value in ((BYTES, sizes[i, j]), (MESSAGES, messages[i, j]))
            if value > 0
        ]
    return rows


def _grouped(values: Floats, step: int) -> Floats:
    if step == 1:
        return values
    places = range(0, len(values), step)
    summed: Floats = np.add.reduceat(np.add.reduceat(values, places, axis=0), places, axis=1)
    return summed


def _name(names: Sequence[str], place: int, step: int) -> str:
    members = names[place * step : (place + 1) * step]
    return members[0] if len(members) == 1 else f"{members[0]} to {members[-1]}"


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
        sizes = message_sizes(program)
        if sizes.height > SIZES_MAX:
            step = sizes.height // SIZES_MAX + 1
            sizes = sizes.with_row_index("at").filter(
                sizes["messages_share"].rank("ordinal") % step == 0
            )
        rows = [
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
        kinds = list(KINDS.values())
        color = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds)
        x = common.size_axis().scale(type="symlog", constant=1, domain=_reach(rows))
        y = common.share_axis("share", "share of this size or smaller")
        base = alt.Chart(common.data_of(rows)).encode(x=x, y=y, color=color)
        lines = base.mark_line(interpolate="step-after", strokeWidth=2)
        points = base.mark_point(filled=True, size=42, opacity=1).encode(
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds), sort=kinds),
            tooltip=common.tooltip(
                rows, size="size", count="messages of this size", kind="share", share="no larger"
            ),
        )
        return common.wide(alt.layer(lines, points))


def _reach(rows: list[Row]) -> list[float]:
    """From half of the smallest size to twice the largest: a single size has an axis as well."""
    sizes = [row["bytes"] for row in rows]
    return [min(sizes) / 2, max(1, *sizes) * 2]


class Destinations(Panel[Program]):
    title = "Sends of each process"
    how_to_read = (
        "The minimum, the mean and the maximum over all ranks; below, the number of ranks by "
        "number of destinations."
    )
    order = 60

    def render(self, program: Program) -> Table | None:
        if program.messages.is_empty():
            return None
        rows = sends_rows(program, ("messages", "bytes", "mean size", "destinations"))
        for row in destination_histogram(sends_by_rank(program)).iter_rows(named=True):
            to = count(row["destinations"], "destination")
            rows.append([to, count(row["ranks"], "rank"), "", ""])
        return Table(["per process", "min", "mean", "max"], rows)
