"""What a history says of a whole cluster: the map of all pairs, and the nodes by their change."""

from collections.abc import Iterator

import numpy as np

from nhalf.base.numbers import fixed, times
from nhalf.decide.history.cluster import NodeChange, node_changes, nodes_of, of_nodes, slower
from nhalf.decide.history.history import CurveHistory, History, moment
from nhalf.decide.history.levels import NAME
from nhalf.facts.pair_views import PairView
from nhalf.present.changes import slower_line
from nhalf.present.panels import Table
from nhalf.present.panels.pair_map import pair_matrices
from nhalf.present.report.caption import captioned
from nhalf.present.report.page import card_of
from nhalf.present.report.sections import Section
from nhalf.results.pair_map.times import natural

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


def cluster_cards(history: History) -> list[dict[str, str]]:
    """A card for each node and each pair that is slower than it was."""
    cards = []
    for change in slower(history):
        figure = times(change.ratio).replace("x", "×")
        label = "Node" if len(change.nodes) == 1 else "Link"
        cards.append(card_of(figure, f"{slower_line(change)}.", label))
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
        columns = ["node", "own time", "/ first", "slower pairs", "pairs / first", "slower since"]
        rows = [_row(change) for change in changes]
        yield Section("nodes", "Nodes", NODES_HOW, None, Table(columns, rows))


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


def _row(change: NodeChange) -> list[str]:
    own = change.own
    return [
        change.node,
        own.levels.curve[NAME] if own else "–",
        fixed(own.ratio_now, 2) if own else "–",
        f"{change.slower_pairs} of {change.pairs}" if change.pairs else "–",
        fixed(change.pairs_ratio, 2) if change.pairs else "–",
        "–" if change.since_s is None else moment(change.since_s),
    ]
