"""A history as one page: the changes in words, every curve over time, and all values.

Of a whole cluster it has the map of all pairs as well, and the nodes by their change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt
import numpy as np

from nhalf.base.dates import date_of
from nhalf.base.numbers import MISSING, change, change_span, fixed, percent, says_nothing, times
from nhalf.base.rows import Row
from nhalf.decide.history.cluster import node_changes, nodes_of, of_nodes, slower
from nhalf.decide.history.history import METHOD, CurveHistory, History, Shift, moment
from nhalf.decide.history.levels import NAME, NODES
from nhalf.facts.pair_views import PairView
from nhalf.present.changes import (
    around_text,
    at_text,
    curve_names,
    ends,
    shown_curves,
    slower_line,
    unclear_lines,
)
from nhalf.present.charts import common
from nhalf.present.findings import Finding
from nhalf.present.panels import Table
from nhalf.present.panels.pair_map import pair_matrices
from nhalf.present.report.caption import captioned
from nhalf.present.report.page import card, card_of, rendered
from nhalf.present.report.sections import Section
from nhalf.present.wording import Cell, known
from nhalf.results.pair_map.times import natural
from nhalf.statistics.change_points import ERROR

TIMES = {
    **{"milliseconds": "%-d %b %H:%M:%S", "seconds": "%-d %b %H:%M:%S"},
    **{"minutes": "%-d %b %H:%M", "hours": "%-d %b %H:%M", "date": "%-d %b", "day": "%-d %b"},
    **{"week": "%-d %b", "month": "%b %Y", "year": "%Y"},
}
"""How moments are written on the axis: with 24 hours, and days by their month."""
ROOM = 0.05
"""An axis shows at least this share of a level beyond the lowest and the highest one."""


def history_chart(history: History, names: Sequence[str]) -> alt.TopLevelMixin:
    """One curve at a time, by name; the values are relative to its first run."""
    rows: list[Row] = []
    for name, curve in zip(names, history.curves, strict=True):
        rows += _rows(name, curve, history)
    base = alt.Chart().transform_filter("datum.curve === shown")
    x = alt.X("at:T", title="measured", axis=alt.Axis(format=TIMES, labelOverlap="greedy"))
    ratio = alt.Y("ratio:Q", title="times the first", scale=alt.Scale(zero=False))
    ends = base.encode(x=x, y=alt.Y("low:Q"), y2="high:Q").transform_filter("isValid(datum.low)")
    titles = {"when": "measured", "run": "run", "library": "library", "time": "/ first"}
    marks = base.mark_point(filled=True, size=46, opacity=1).encode(
        x=x, y=ratio, tooltip=common.tooltip(rows, **titles)
    )
    changes = (
        base.transform_filter("datum.change !== ''")
        .mark_rule(strokeDash=[5, 4], strokeWidth=2, color="#d55e00")
        .encode(x=x, tooltip=common.tooltip(rows, change="changed"))
    )
    line = base.mark_line(strokeWidth=2).encode(x=x, y=ratio)
    # A layer without rows would leave its scale without an extent.
    changed = [changes] if any(row["change"] for row in rows) else []
    has_bars = any(row["low"] is not None for row in rows)
    bars = [ends.mark_rule(strokeWidth=2, opacity=0.5)] if has_bars else []
    chart = alt.layer(*bars, line, marks, *changed, data=common.data_of(rows))
    return common.wide(chart, common.choice("shown", list(names), names[0], "Curve"))


def _rows(name: str, curve: CurveHistory, history: History) -> list[Row]:
    levels = curve.levels
    lowest, highest = float(levels.ratio.min()), float(levels.ratio.max())
    reach = max(highest - lowest, ROOM * highest)
    changes = {shift.at: f"{change(shift.ratio)}, first in {shift.at}" for shift in curve.shifts}
    return [
        {
            **{"curve": name, "run": run, "library": levels.libraries[i]},
            "at": None if date is None else date.isoformat(),
            "when": moment(history.started_s[run]),
            "ratio": common.digits(float(levels.ratio[i])),
            # The bar of an interval that is unknown would hide the levels.
            "low": None if says_nothing(low, high) else common.digits(max(low, lowest - reach)),
            "high": None if says_nothing(low, high) else common.digits(min(high, highest + reach)),
            "time": fixed(levels.ratio[i], 3),
            "change": changes.get(run, ""),
        }
        for i, run in enumerate(levels.runs)
        for date in [date_of(history.started_s[run])]
        for low, high in [(float(levels.low[i]), float(levels.high[i]))]
    ]


FOOTER = (
    f"Levels are the interquartile mean over sizes, relative to the first run; changes by {METHOD}."
)
GATES_FOOTER = (
    "Each gate counts as one observation of what it timed; gates beside other programs do not "
    f"count. Changes by {METHOD}."
)
COURSE_HOW = (
    "Lower is faster: each mark is a run or a gate, its bar the 95 % interval over launches; a "
    "dashed line is the first one of a new level."
)
NOTHING_CHANGED = "No curve changed beyond the stated thresholds."
VALUES_HOW = "Every value of every curve, relative to the curve's first one."


def history_page(
    history: History, alarms: Sequence[str] = (), changes: Sequence[Finding] = ()
) -> str:
    """The whole page as HTML; `alarms` come first, then how few runs differ from the first."""
    count = len(history.curves)
    cards = [*map(card, changes), *cluster_cards(history)]
    further = list(cluster_sections(history))
    history = replace(history, curves=tuple(shown_curves(history)))
    names = curve_names([curve.levels.curve for curve in history.curves])
    cards += _cards(history, names)
    runs = list(history.started_s)
    first, last = (moment(history.started_s[run]) for run in (runs[0], runs[-1]))
    return rendered(
        cards,
        alarms=alarms,
        nothing=NOTHING_CHANGED,
        title="Performance over time",
        subtitle=f"{len(runs)} {history.occasions} · {first} to {last}",
        sureness=[
            (str(len(runs)), history.occasions),
            (str(count), f"curves in at least two {history.occasions}"),
            (str(len(history.shifts)), "changes found"),
            (percent(ERROR, None), "of histories without a change show one, at most"),
        ],
        footer=GATES_FOOTER if history.occasions == "gates" else FOOTER,
        sections=[*further, *_sections(history, names)],
    )


def _cards(history: History, names: list[str]) -> list[dict[str, str]]:
    called = {id(curve.levels): name for name, curve in zip(names, history.curves, strict=True)}
    cards = []
    for levels, shift in history.shifts:
        if NODES not in levels.curve or shift.verdict != "slower":
            text = (
                f"{called[id(levels)]}: from {shift.date} on (first run {at_text(shift)}), "
                f"interval {change_span(shift.ratio, shift.low, shift.high)}."
            )
            label, remedy = shift.verdict.capitalize(), _remedy(shift, str(history.latest))
            kind = "doubt" if shift.verdict == "unclear" else "fact"
            cards.append(card_of(change(shift.ratio), text, label, remedy, kind))
    remedy = "Measure with more launches, on a quiet machine."
    for line in unclear_lines(history, names):
        cards.append(card_of("?", f"{line}.", "Unclear", remedy, "doubt"))
    remedy = "Another run will show whether that persists."
    for name, curve in zip(names, history.curves, strict=True):
        if curve.last_ratio is not None:
            text = f"{name}: the last run differs from those before."
            cards.append(card_of(change(curve.last_ratio), text, "Last run", remedy, "doubt"))
    return cards


def _remedy(shift: Shift, run: str) -> str:
    """Say why a change is unclear and what would decide it, and what changed with it."""
    doubt = f"Unclear: {shift.doubt.reason}; {shift.doubt.remedy.replace('RUN', run)}."
    around = f"Changed with it: {around_text(shift)}."
    lines = [*([doubt] if shift.doubt.reason else []), *([around] if shift.differences else [])]
    return " ".join(lines)


def _sections(history: History, names: list[str]) -> list[Section]:
    if not names:
        return []
    spec = {**history_chart(history, names).to_dict(), "description": f"Course. {COURSE_HOW}"}
    spec = captioned(spec, {"expr": "shown"})
    rows = []
    for name, curve in zip(names, history.curves, strict=True):
        levels = curve.levels
        for i, run in enumerate(levels.runs):
            interval = ends(levels.low[i], levels.high[i])
            when = moment(history.started_s[run])
            ratio = f"{fixed(levels.ratio[i], 3)}"
            rows.append([name, when, ratio, interval, levels.libraries[i], run])
    columns = ["curve", "measured", "/ first", "interval", "library", "run"]
    return [
        Section("course", "Over time", COURSE_HOW, spec, None),
        Section("values", "Values", VALUES_HOW, None, Table(columns, rows)),
    ]


MAP_HOW = (
    "Each cell is a pair of nodes, brighter the more its time grew since it was first measured; "
    "cells without a change that is certain are 1, and pairs that are slower now have an orange "
    "frame: a bright row and column are a node, a single bright cell is a link."
)
NODES_HOW = (
    "The node that became slowest is first: the time of its own that grew most, and how many of "
    "its pairs are slower than they were; a pair counts for both of its nodes."
)
SINCE_FIRST = "times the first level"
NODE_COLUMNS: dict[str, Cell] = {
    "node": "node",
    "own time": lambda node: node.own.levels.curve[NAME] if node.own else MISSING,
    "/ first": lambda node: fixed(node.own.ratio_now, 2) if node.own else MISSING,
    "slower pairs": lambda node: f"{node.slower_pairs} of {node.pairs}" if node.pairs else MISSING,
    "pairs / first": lambda node: fixed(node.pairs_ratio, 2) if node.pairs else MISSING,
    "slower since": lambda node: known(node.since_s, moment),
}


def cluster_cards(history: History) -> list[dict[str, str]]:
    """A card for each node and each pair that is slower than it was."""
    cards = []
    for slowdown in slower(history):
        figure = times(slowdown.ratio).replace("x", "×")
        label = "Node" if len(slowdown.nodes) == 1 else "Link"
        cards.append(card_of(figure, f"{slower_line(slowdown)}.", label))
    return cards


def cluster_sections(history: History) -> Iterator[Section]:
    """The map of pairs and the table of nodes; none for a history of runs without pairs."""
    curves = of_nodes(history)
    names = sorted({curve.levels.curve[NAME] for curve in curves if len(nodes_of(curve)) > 1})
    pairs = [[curve for curve in curves if curve.levels.curve[NAME] == name] for name in names]
    if pairs:
        views = [_view(name, its) for name, its in zip(names, pairs, strict=True)]
        chart = pair_matrices(views, SINCE_FIRST)
        assert chart is not None, "every curve has a pair"
        spec = {**chart.to_dict(), "description": f"Pairs. {MAP_HOW}"}
        spec = captioned(spec, {"expr": "chosen"} if len(names) > 1 else names[0])
        yield Section("pairs", "Pairs of nodes", MAP_HOW, spec, None)
    if changes := node_changes(history):
        yield Section("nodes", "Nodes", NODES_HOW, None, Table.of(changes, NODE_COLUMNS))


def _view(name: str, curves: list[CurveHistory]) -> PairView:
    """The matrix of one quantity, both halves alike."""
    nodes = sorted({node for curve in curves for node in nodes_of(curve)}, key=natural)
    place = {node: i for i, node in enumerate(nodes)}
    shape = (len(nodes), len(nodes))
    time_s, ratio = np.full(shape, np.nan), np.full(shape, np.nan)
    is_slower = np.zeros(shape, dtype=bool)
    for curve in curves:
        i, j = (place[node] for node in nodes_of(curve))
        levels = curve.levels
        for cell in ((i, j), (j, i)):
            time_s[cell] = levels.time_s * levels.ratio[-1]
            ratio[cell], is_slower[cell] = curve.ratio_now, curve.is_slower
    return PairView(
        series="all pairs",
        choice=name,
        level="nodes",
        size_bytes=0,
        names=nodes,
        times_s=time_s,
        low_s=np.full(shape, np.nan),
        high_s=np.full(shape, np.nan),
        within=np.zeros(shape, dtype=bool),
        times_ratio=ratio,
        slow=is_slower,
        slowest_ratio=max(curve.ratio_now for curve in curves),
    )
