"""A whole cluster over time: which nodes and which pairs of nodes became slower, and since when.

A slow node slows down all its pairs. Pairs of one quantity that became slower are therefore laid to
the node that has most of them, if it has two or more and these are half of its pairs at least; then
to the next one among those that are left. What remains are single pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from statistics import median

from nhalf.decide.history.history import CurveHistory, History
from nhalf.decide.history.levels import NAME, NODES

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
