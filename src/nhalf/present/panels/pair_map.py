# SPDX-License-Identifier: Apache-2.0
"""Times between all pairs of hosts and of ranks, there and back; those that are slow are framed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nhalf.base.units import format_rate, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.charts import common
from nhalf.present.panels import Panel
from nhalf.results.pair_map.times import natural
from nhalf.statistics.intervals import Floats

MEMBERS_MAX = 64
"""Of more ranks or hosts, so many groups of neighbours are drawn, each by its slowest pair."""

NAMES_MAX = 40
NAME_LENGTH_MAX = 14
COLOUR_FACTOR_MIN = 1.25
"""The colours span at least this factor, so that noise does not look like a distance."""

BY_NAME, BY_LIKENESS = "by name", "by similarity"


class PairMap(Panel):
    title = "Map of all pairs"
    how_to_read = (
        "Each cell is a pair, from the row to the column, brighter the slower it is beside the "
        "usual pair of its kind: a bright row is a node that sends slowly, a bright column one "
        "that receives slowly, a single bright cell a slow link; what is beyond doubt has an "
        "orange frame, and pairs within one host, which are compared with each other only, have a "
        "dot."
    )
    order = 51

    def render(self, data: Facts) -> alt.TopLevelMixin | None:
        rows: list[common.Row] = []
        names: dict[str, dict[str, list[str]]] = {}
        for one in data.results.get("pair_map", []):
            for view in _views(one):
                choice = str(view["choice"])
                known = names.setdefault(choice, _orders(view))
                rows += _cells(one, view, known, _series(data, one))
        if not rows:
            return None
        choices = sorted(names, key=lambda choice: ("latency" not in choice, natural(choice)))
        order = sorted({row["series"] for row in rows})
        return (
            alt.layer(*_layers(rows, names), data=common.data_of(rows))
            .properties(width=common.CHART_HEIGHT, height=common.CHART_HEIGHT)
            .facet(alt.Facet("series:N", title=None, sort=order), columns=2)
            .add_params(
                common.choice("chosen", choices, choices[0], "Map"),
                common.choice("ordered", [BY_NAME, BY_LIKENESS], BY_NAME, "Order"),
            )
        )


def _series(data: Facts, one: common.Row) -> str:
    name = library_label(data, one["transport"], one["mpi"])
    rows = data.results["pair_map"]
    parts = [name, f"{one['ranks']} ranks"]
    parts += [
        str(one[column])
        for column in ("placement", "run")
        if len({row[column] for row in rows}) > 1 and one[column]
    ]
    return ", ".join(parts)


def _views(one: common.Row) -> list[common.Row]:
    """The matrices to draw of one map: of hosts, where there are several, and of ranks.

    Each with its `choice`, `names`, `times_s` and `within` (whether a pair is on one host), and the
    range over launches where it is known.
    """
    times_s, spread = _array(one["times_s"]), (_array(one["times_low_s"]), one["times_high_s"])
    count = len(one["members"])
    plain = {
        "names": one["members"],
        "times_s": times_s,
        "low_s": spread[0],
        "high_s": _array(spread[1]),
        "within": np.zeros((count, count), dtype=bool),
        "slow": _slow_cells(one),
        "base_s": one.get("base_s"),
    }
    if one["level"] == "ranks":
        return [plain | {"choice": f"{one['map']}: ranks"}]
    if one["within_s"] and any(time_s is not None for time_s in one["within_s"]):
        plain["times_s"] = np.where(np.eye(count, dtype=bool), _array(one["within_s"]), times_s)
        plain["within"] = np.eye(count, dtype=bool)
    found = [plain | {"choice": f"{one['map']}: hosts"}]
    if one["ranks"] > count:
        hosts = np.array(one["hosts"])
        ranks_s = _array(one["rank_times_s"])
        found.append(
            {
                "choice": f"{one['map']}: ranks",
                "names": [f"{rank} · {host}" for rank, host in enumerate(one["hosts"])],
                "times_s": ranks_s,
                "within": hosts[:, None] == hosts[None, :],
                "low_s": np.full_like(ranks_s, np.nan),
                "high_s": np.full_like(ranks_s, np.nan),
                "slow": set(),
            }
        )
    return found


def _array(values: Sequence[Any]) -> Floats:
    return np.array(values, dtype=np.float64)


def _slow_cells(one: common.Row) -> set[tuple[str, str]]:
    """The cells, by names, of everything that was found slow; '' stands for every member."""
    cells: set[tuple[str, str]] = set()
    for slow in one["slow"]:
        first, second = slow["members"][0], slow["members"][-1]
        cells |= {
            "sends": {(first, "")},
            "receives": {("", first)},
            "node": {(first, ""), ("", first)},
            "way": {(first, second)},
            "link": {(first, second), (second, first)},
            "within": {(first, first)},
        }[slow["kind"]]
    return cells


def _is_slow(first: str, second: str, slow: set[tuple[str, str]]) -> bool:
    """Whether a cell is one of those; what is slow to all is not so within."""
    wholes = {(first, ""), ("", second)} if first != second else set()
    return bool(slow & {(first, second), *wholes})


def _orders(view: common.Row) -> dict[str, list[str]]:
    """Names in both orders."""
    names: list[str] = view["names"]
    likeness = [names[place] for place in _by_likeness(view["times_s"])]
    return {BY_NAME: names, BY_LIKENESS: likeness}


def _by_likeness(times_s: Floats) -> list[int]:
    """Members so that those that are close to each other stand together: average linkage."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(times_s) < 3 or not np.isfinite(times_s).any():
        return list(range(len(times_s)))
    logs = np.log(times_s)
    logs = np.where(np.isfinite(logs), logs, np.nanmax(logs))
    apart = (logs + logs.T) / 2
    apart -= apart.min()
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return [int(place) for place in leaves_list(tree)]


def _cells(
    one: common.Row, view: common.Row, orders: dict[str, list[str]], series: str
) -> list[common.Row]:
    """The cells of one matrix; of many members groups of neighbours, by their slowest pair."""
    names, times_s, within = view["names"], view["times_s"], view["within"]
    if set(names) != set(orders[BY_NAME]):
        orders = _orders(view)  # another set of hosts: its own places, under the names of the first
    ratios = np.full(times_s.shape, np.nan)
    for kind, base_s in ((within, None), (~within, view.get("base_s"))):
        known = kind & np.isfinite(times_s)
        if known.any():
            ratios[known] = times_s[known] / (base_s or np.median(times_s[known]))
    step = math.ceil(len(names) / MEMBERS_MAX)
    listed = [orders[BY_NAME], orders[BY_LIKENESS] if step == 1 else orders[BY_NAME]]
    places = [{name: i // step for i, name in enumerate(order)} for order in listed]
    best: dict[tuple[int, ...], common.Row] = {}
    for i, j in np.argwhere(np.isfinite(ratios)):
        first, second = names[i], names[j]
        where = [place[name] for place in places for name in (first, second)]
        cell = {
            "series": series,
            "choice": view["choice"],
            **dict(zip(("y1", "x1", "y2", "x2"), where, strict=True)),
            "ratio": common.digits(float(ratios[i, j]), 4),
            "pair": first if i == j else f"{first} to {second}",
            "time": format_time(float(times_s[i, j])),
            "rate": format_rate(one["bytes"] / float(times_s[i, j])) if one["bytes"] else "–",
            "launches": _range_text(view["low_s"][i, j], view["high_s"][i, j]),
            "kind": "within one host" if within[i, j] else "between " + one["level"],
            "dot": int(within[i, j]),
            "slow": int(_is_slow(first, second, view["slow"])),
        }
        key = tuple(where)
        if key not in best or cell["ratio"] > best[key]["ratio"]:
            best[key] = cell
    return list(best.values())


def _range_text(low_s: float, high_s: float) -> str:
    if not (math.isfinite(low_s) and math.isfinite(high_s)):
        return "–"
    return f"{format_time(low_s)} to {format_time(high_s)}"


def _layers(rows: list[common.Row], names: dict[str, dict[str, list[str]]]) -> list[alt.Chart]:
    """Colours, then dots of pairs within hosts, then frames of what is slow."""
    ordered = sorted(row["ratio"] for row in rows)
    most = max(COLOUR_FACTOR_MIN, ordered[-1])
    color = alt.Color(
        "ratio:Q",
        title="times the usual pair of its kind",
        scale=alt.Scale(type="log", scheme="viridis", domain=[1, most], clamp=True),
        legend=alt.Legend(format=".3~r", tickCount=4, gradientLength=180, titleLimit=300),
    )
    titles = {
        "series": "library",
        "pair": "pair",
        "time": "time of a message",
        "rate": "rate",
        "launches": "in its launches",
        "ratio": "times the usual",
        "kind": "where",
    }
    tooltip = [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]
    base = (
        alt.Chart()
        .transform_filter("datum.choice === chosen")
        .transform_calculate(
            x=f"ordered === '{BY_NAME}' ? datum.x1 : datum.x2",
            y=f"ordered === '{BY_NAME}' ? datum.y1 : datum.y2",
        )
        .encode(
            x=_axis(alt.X, "x", "to", names), y=_axis(alt.Y, "y", "from", names), tooltip=tooltip
        )
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
    axis = alt.Axis(
        labelAngle=-40 if channel is alt.X else 0,
        labelOverlap=True,
        labelFlush=False,
        ticks=False,
        domain=False,
        labelExpr=words,
    )
    return channel(f"{field}:O", title=title, axis=axis, scale=alt.Scale(padding=0.04))
