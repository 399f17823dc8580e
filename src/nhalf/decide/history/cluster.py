"""A whole cluster over time: which nodes and which pairs of nodes became slower, and since when.

A slow node slows down all its pairs. Pairs of one quantity that became slower are therefore laid to
the node that has most of them, if it has two or more and these are half of its pairs at least; then
to the next one among those that are left. What remains are single pairs.

Every core, memory domain and pair of nodes that gates timed is a curve; a gate counts as one
observation. Gates that joined a baseline are used, and those that were a no-go; gates beside other
programs are not. Many gates in a row are taken together by their median, which bounds the time and
the noise of a year of hourly gates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from statistics import median

import numpy as np

from nhalf.base.errors import InputError, unknown
from nhalf.decide.history.history import CurveHistory, History, curve_error, curve_history
from nhalf.decide.history.levels import NAME, NODES, RUNS_MIN, node_levels
from nhalf.statistics.change_points import ERROR
from nhalf.store.gates import GateRecord, timed_on

OCCASIONS_MAX = 200
"""More gates of a curve are taken together, several in a row."""
THRESHOLD = 1.05
"""The usual tolerance of a gate."""
Timed = tuple[str, str]
"""Nodes, joined by a space, and name."""


def gate_history(records: Sequence[GateRecord], folder: Path, kind: str = "") -> History:
    """The history of gates; `kind` narrows it to one kind of times, such as 'core' or 'transfer'.

    Raises InputError if nothing was timed by two gates, or nothing of that kind.
    """
    usable = [record for record in records if record.counts or record.verdict == "no-go"]
    rows: dict[Timed, list[tuple[GateRecord, float]]] = defaultdict(list)
    for record in usable:
        for name, time_s in record.times_s.items():
            if 0 < time_s < np.inf:
                quantity, nodes = timed_on(record.node, name)
                rows[" ".join(nodes), quantity].append((record, time_s))
    kinds = {_kind(quantity) for _, quantity in rows}
    if kind and kind not in kinds:
        raise unknown("kind of times", kind, kinds)
    chosen = {timed: its for timed, its in rows.items() if kind in ("", _kind(timed[1]))}
    return _history(chosen, usable, folder)


def _history(
    rows: dict[Timed, list[tuple[GateRecord, float]]], usable: Sequence[GateRecord], folder: Path
) -> History:
    levels, environments = [], []
    for timed, its in sorted(rows.items()):
        # Of each occasion the first gate, and the median of its times.
        parts = np.array_split(np.arange(len(its)), min(len(its), OCCASIONS_MAX))
        occasions = [
            (its[part[0]][0], float(np.median([its[place][1] for place in part]))) for part in parts
        ]
        if len(occasions) >= RUNS_MIN:
            curve = {"pattern": _kind(timed[1]), NODES: timed[0], NAME: timed[1]}
            runs = {_moment(record): ("", np.array([time_s])) for record, time_s in occasions}
            levels.append(node_levels(curve, runs, threshold=THRESHOLD))
            environments.append([{"nhalf": record.nhalf} for record, _ in occasions])
    if not levels:
        raise InputError(
            "nothing here was timed by two gates", "gates beside other programs do not count"
        )
    errors = curve_error(levels), ERROR / len(levels)
    started_s = {_moment(record): record.at.timestamp() for record in usable}
    curves = [
        curve_history(curve, its, started_s, errors)
        for curve, its in zip(levels, environments, strict=True)
    ]
    return History(started_s, tuple(curves), errors[0], folder, "gates")


def _kind(quantity: str) -> str:
    """'core' of 'core 5'."""
    return quantity.partition(" ")[0]


def _moment(record: GateRecord) -> str:
    """What stands for a gate: its time."""
    return record.at.isoformat(timespec="seconds")


PAIRS_LEAST, SHARE_LEAST = 2, 0.5
"""A node is blamed for at least this many of its pairs, and this share of them."""


@dataclass(frozen=True)
class NowSlower:
    """What became slower: one time of a node, several pairs of a node, or one pair.

    `nodes` are whom it is laid to, `ratio` is over the level before it became slower; `pairs` is
    how many pairs of that quantity the node has, 0 for its own times.
    """

    nodes: tuple[str, ...]
    name: str
    curves: tuple[CurveHistory, ...]
    pairs: int = 0

    @property
    def ratio(self) -> float:
        """The median over the curves."""
        return median(prod(s.ratio for s in curve.slowdown) for curve in self.curves)

    @property
    def since_s(self) -> float:
        """When the first of the curves became slower."""
        return min(curve.slowdown[0].started_s for curve in self.curves)


@dataclass(frozen=True)
class NodeChange:
    """A node: how its own times and those of its pairs changed since the first gates.

    `own` is its own time that grew most, None if none did; `pairs_ratio` the median over its pairs
    of the quantity that grew most, 1 without any; `slower_pairs` of its `pairs` are slower.
    """

    node: str
    own: CurveHistory | None
    pairs: int
    slower_pairs: int
    pairs_ratio: float
    since_s: float | None

    @property
    def ratio(self) -> float:
        """The larger change, by which nodes are sorted."""
        return max(self.own.ratio_now if self.own else 1.0, self.pairs_ratio)


def of_nodes(history: History) -> list[CurveHistory]:
    """The curves that are of a node or of two nodes."""
    return [curve for curve in history.curves if NODES in curve.levels.curve]


def nodes_of(curve: CurveHistory) -> tuple[str, ...]:
    """The node or the two nodes of a curve."""
    return tuple(curve.levels.curve[NODES].split())


def slower(history: History) -> list[NowSlower]:
    """What became slower and is so now: nodes' own times, nodes by their pairs, single pairs.

    The largest change comes first.
    """
    changed: dict[str, list[CurveHistory]] = {}
    blamed = []
    for curve in of_nodes(history):
        if not curve.is_slower:
            continue
        if len(nodes_of(curve)) == 1:
            blamed.append(NowSlower(nodes_of(curve), curve.levels.curve[NAME], (curve,)))
        else:
            changed.setdefault(curve.levels.curve[NAME], []).append(curve)
    for name, curves in changed.items():
        timed = [c for c in of_nodes(history) if c.levels.curve[NAME] == name]
        blamed += _blamed(name, curves, Counter(node for c in timed for node in nodes_of(c)))
    return sorted(blamed, key=lambda change: -change.ratio)


def _blamed(name: str, curves: Sequence[CurveHistory], pairs: Counter[str]) -> Iterator[NowSlower]:
    """The nodes that have most of several slower pairs, then the pairs that are left."""
    unexplained = list(curves)
    while unexplained:
        counts = Counter(node for curve in unexplained for node in nodes_of(curve))
        node, count = max(counts.items(), key=lambda item: (item[1], item[1] / pairs[item[0]]))
        if count < PAIRS_LEAST or count < SHARE_LEAST * pairs[node]:
            break
        its = tuple(curve for curve in unexplained if node in nodes_of(curve))
        yield NowSlower((node,), name, its, pairs[node])
        unexplained = [curve for curve in unexplained if node not in nodes_of(curve)]
    for curve in unexplained:
        yield NowSlower(nodes_of(curve), name, (curve,), 1)


def node_changes(history: History) -> list[NodeChange]:
    """Every node, the one that became slowest first."""
    own: dict[str, list[CurveHistory]] = {}
    pairs: dict[str, list[CurveHistory]] = {}
    for curve in of_nodes(history):
        nodes = nodes_of(curve)
        for node in nodes:
            (own if len(nodes) == 1 else pairs).setdefault(node, []).append(curve)
    changes = [
        _node_change(node, own.get(node, []), pairs.get(node, []))
        for node in sorted({*own, *pairs})
    ]
    return sorted(changes, key=lambda change: (-change.ratio, -change.slower_pairs))


def _node_change(
    node: str, own: Sequence[CurveHistory], pairs: Sequence[CurveHistory]
) -> NodeChange:
    since_s = [c.slowdown[0].started_s for c in (*own, *pairs) if c.is_slower]
    by_name: dict[str, list[float]] = {}
    for curve in pairs:
        by_name.setdefault(curve.levels.curve[NAME], []).append(curve.ratio_now)
    grown = [curve for curve in own if curve.ratio_now > 1]
    return NodeChange(
        node,
        max(grown, key=lambda curve: curve.ratio_now, default=None),
        len({nodes_of(curve) for curve in pairs}),
        len({nodes_of(curve) for curve in pairs if curve.is_slower}),
        max(map(median, by_name.values()), default=1.0),
        min(since_s, default=None),
    )
