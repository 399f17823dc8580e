"""Times between all pairs of hosts and of ranks, there and back; those that are slow are framed."""

import json
import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nhalf.base.numbers import span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.pair_views import PairView, pair_views
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.results.pair_map.times import PATTERNS, natural

MEMBERS_MAX = 64
"""More ranks or hosts are drawn as this many groups of neighbours, each by its slowest pair."""
NAMES_MAX = 40
NAME_LENGTH_MAX = 14
BY_NAME, BY_LIKENESS = "by name", "by similarity"


class PairMap(Panel[Facts]):
    title = "Map of all pairs"
    how_to_read = (
        "Each cell is a pair, from the row to the column, brighter the slower it is relative to "
        "the typical pair of its kind: a bright row is a node that sends slowly, a bright column "
        "one that receives slowly, a single bright cell a slow link; significantly slow cells have "
        "an orange frame, and pairs within one host, which are compared with each other only, have "
        "a dot."
    )
    order = 51
    patterns = PATTERNS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        return pair_matrices(list(pair_views(facts)))


def pair_matrices(
    views: Sequence[PairView], relative: str = "times the typical pair of its kind"
) -> alt.TopLevelMixin | None:
    """The matrices, of which a reader picks one; `relative` says what ratios are to.

    None if no pair was timed.
    """
    rows: list[Row] = []
    names: dict[str, dict[str, list[str]]] = {}
    for view in views:
        rows += _cells(view, names.setdefault(view.choice, _orders(view)))
    if not rows:
        return None
    choices = sorted(names, key=lambda choice: ("latency" not in choice, natural(choice)))
    order = sorted({row["series"] for row in rows})
    return (
        alt.layer(*_layers(rows, names, relative), data=common.data_of(rows))
        .properties(width=common.CHART_HEIGHT, height=common.CHART_HEIGHT)
        .facet(alt.Facet("series:N", title=None, sort=order), columns=2)
        .transform_filter("datum.choice === chosen")
        .add_params(
            common.choice("chosen", choices, _opening(views, choices), "Map"),
            common.choice("ordered", [BY_NAME, BY_LIKENESS], BY_NAME, "Order"),
        )
    )


def _opening(views: Sequence[PairView], choices: Sequence[str]) -> str:
    """The map that is shown first: the one with the slowest finding, or else one that was judged.

    Among equals it is the first of `choices`.
    """
    return max(
        choices,
        key=lambda choice: max(
            (view.slowest_ratio, view.is_judged) for view in views if view.choice == choice
        ),
    )


def _orders(view: PairView) -> dict[str, list[str]]:
    return {BY_NAME: view.names, BY_LIKENESS: view.by_likeness}


def _cells(view: PairView, orders: dict[str, list[str]]) -> list[Row]:
    """The cells of one matrix; of many members groups of neighbours, by their slowest pair."""
    names = view.names
    if set(names) != set(orders[BY_NAME]):
        orders = _orders(view)  # another set of hosts: its own places, under the names of the first
    step = math.ceil(len(names) / MEMBERS_MAX)
    listed = [orders[BY_NAME], orders[BY_LIKENESS] if step == 1 else orders[BY_NAME]]
    places = [{name: i // step for i, name in enumerate(order)} for order in listed]
    best: dict[tuple[int, ...], Row] = {}
    for i, j in np.argwhere(np.isfinite(view.times_ratio)):
        where = tuple(place[name] for place in places for name in (names[i], names[j]))
        cell = _cell(view, int(i), int(j), where)
        if where not in best or cell["ratio"] > best[where]["ratio"]:
            best[where] = cell
    return list(best.values())


def _cell(view: PairView, i: int, j: int, where: tuple[int, ...]) -> Row:
    """The pair from i to j at its places in both orders."""
    first, second, time_s = view.names[i], view.names[j], float(view.times_s[i, j])
    ends_s = (view.low_s[i, j], view.high_s[i, j])
    return {
        "series": view.series,
        "choice": view.choice,
        **dict(zip(("y1", "x1", "y2", "x2"), where, strict=True)),
        "ratio": common.digits(float(view.times_ratio[i, j]), 4),
        "pair": first if i == j else f"{first} to {second}",
        "time": format_time(time_s),
        "rate": format_rate(view.size_bytes / time_s) if view.size_bytes else "–",
        "launches": span(*ends_s, format_time) if all(map(math.isfinite, ends_s)) else "–",
        "kind": "within one host" if view.within[i, j] else "between " + view.level,
        "dot": int(view.within[i, j]),
        "slow": int(view.slow[i, j]),
    }


def _layers(
    rows: list[Row], names: dict[str, dict[str, list[str]]], relative: str
) -> list[alt.Chart]:
    """Colours, then dots of pairs within hosts, then frames of what is slow."""
    color = common.heat_color(relative, max(row["ratio"] for row in rows), titleLimit=300)
    tooltip = common.tooltip(
        rows,
        **{"series": "library", "pair": "pair", "time": "time of a message", "rate": "rate"},
        **{"launches": "in its launches", "ratio": relative, "kind": "where"},
    )
    y = f"ordered === '{BY_NAME}' ? datum.y1 : datum.y2"
    x = _axis(alt.X, "x", "to", names)
    base = (
        alt.Chart()
        .transform_calculate(x=f"ordered === '{BY_NAME}' ? datum.x1 : datum.x2", y=y)
        .encode(x=x, y=_axis(alt.Y, "y", "from", names), tooltip=tooltip)
    )
    dots = base.transform_filter("datum.dot === 1").mark_point(
        size=22, filled=True, color="#ffffff", stroke="#14181f", strokeWidth=0.8, opacity=1
    )
    frames = base.transform_filter("datum.slow === 1").mark_rect(
        fillOpacity=0, stroke="#d55e00", strokeWidth=2.5
    )
    return [base.mark_rect().encode(color=color), dots, frames]


def _axis(channel: Any, field: str, title: str, names: dict[str, dict[str, list[str]]]) -> Any:
    """One axis; its names change with the map and the order that are chosen."""
    short = {
        choice: {
            order: [name.partition(".")[0][:NAME_LENGTH_MAX] for name in listed]
            for order, listed in orders.items()
            if len(listed) <= NAMES_MAX
        }
        for choice, orders in names.items()
    }
    words = f"({json.dumps(short)}[chosen][ordered] || [])[datum.value] || ''"
    axis = common.cell_axis(words, -40 if channel is alt.X else 0)
    return channel(f"{field}:O", title=title, axis=axis, scale=alt.Scale(padding=0.04))
