"""Shapes around one rank or all of them: master-worker, trees, all-to-all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nhalf.facts.program.shape.edges import Edges
from nhalf.facts.program.shape.explained import Explained

MASTER_WORKER, TREE, ALL_TO_ALL = "master-worker", "binomial tree", "all-to-all"
WORKERS_SHARE = 0.8


def hubs(edges: Edges) -> Iterator[Explained]:
    """The shapes that explain any pairs."""
    yield from _master(edges)
    yield from _tree(edges)
    yield from _all(edges)
    yield from _groups(edges)


def _master(edges: Edges) -> Iterator[Explained]:
    """One rank is an end of every message and exchanges with nearly all others."""
    if edges.ranks < 4 or not len(edges.source):
        return
    ends = np.concatenate([edges.source, edges.target])
    hub = int(np.bincount(ends, minlength=edges.ranks).argmax())
    mask = (edges.source == hub) | (edges.target == hub)
    members = np.unique(np.concatenate([edges.source[mask], edges.target[mask]]))
    if len(members) - 1 >= WORKERS_SHARE * (edges.ranks - 1):
        words = f"master-worker: rank {hub} and {len(members) - 1} others"
        yield Explained(MASTER_WORKER, words, mask, 1)


def _tree(edges: Edges) -> Iterator[Explained]:
    """Messages down or up the binomial tree of rank 0, whose edges clear the lowest bit set."""
    child = np.arange(1, edges.ranks)
    highest = np.array([1 << (int(rank).bit_length() - 1) for rank in child], dtype=np.int64)
    for parent in (child & (child - 1), child ^ highest):
        keys = set(zip(parent.tolist(), child.tolist(), strict=True))
        pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
        down = np.array([pair in keys for pair in pairs], dtype=bool)
        up = np.array([pair[::-1] in keys for pair in pairs], dtype=bool)
        mask = np.zeros(len(pairs), dtype=bool)
        for way in (down, up):
            if way.sum() == len(keys) > 2 and edges.are_alike(way):
                mask |= way
        if mask.any():
            yield Explained(TREE, f"binomial tree of {edges.ranks} ranks", mask, 1)


def _all(edges: Edges) -> Iterator[Explained]:
    everything = edges.ranks * (edges.ranks - 1)
    mask = np.ones(len(edges.source), dtype=bool)
    if edges.ranks > 2 and len(mask) == everything and edges.are_alike(mask):
        yield Explained(ALL_TO_ALL, f"all-to-all among {edges.ranks} ranks", mask, 1)


def _groups(edges: Edges) -> Iterator[Explained]:
    """All-to-all within groups of neighbours, or of ranks at equal distances."""
    for size in range(3, edges.ranks // 2 + 1):
        if edges.ranks % size:
            continue
        number = edges.ranks // size
        ways = (
            (edges.source // size, edges.target // size, f"{size} consecutive ranks"),
            (edges.source % number, edges.target % number, f"{size} ranks, {number} apart"),
        )
        for source, target, words in ways:
            mask = source == target
            if mask.sum() == edges.ranks * (size - 1) and edges.are_alike(mask):
                yield Explained(ALL_TO_ALL, f"all-to-all within groups of {words}", mask, 1)
