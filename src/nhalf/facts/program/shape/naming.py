# SPDX-License-Identifier: Apache-2.0
"""The name of who sends to whom, with what it explains: '' where nothing is beyond doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.facts.program.shape.cubes import BUTTERFLY, cubes
from nhalf.facts.program.shape.edges import Edges, Which
from nhalf.facts.program.shape.explained import Explained
from nhalf.facts.program.shape.grid_words import WAVEFRONT
from nhalf.facts.program.shape.grids import grids
from nhalf.facts.program.shape.hubs import MASTER_WORKER, hubs
from nhalf.facts.program.shape.permutations import permutations

SHARE_MIN = 0.9
"""A shape has to explain so much of all messages."""
NONE, IRREGULAR, PAIR = "none", "", "pair"


@dataclass(frozen=True)
class Shape:
    """What point-to-point messages look like.

    `name` is NONE without messages, IRREGULAR where no known shape explains them; `share` is how
    much of the messages the shape explains, `partners` to how many others a rank sends, median.
    """

    name: str
    words: str
    share: float
    partners: float
    grid: Explained | None = None

    @property
    def evidence(self) -> str:
        """What the name rests on, in a sentence."""
        if self.name == NONE:
            return "There are no point-to-point messages between different ranks."
        if not self.name:
            return "No known shape explains 90 % of the messages."
        return f"{self.share * 100:.3g} % of the messages follow it."


def shape_of(messages: Floats, sizes: Floats | None = None) -> Shape:
    """The shape of a matrix of messages (from row to column), with their bytes where known."""
    edges = Edges.of(messages, sizes)
    if not edges.total:
        return Shape(NONE, "no point-to-point messages", 1.0, 0.0)
    partners = float(np.median(np.unique(edges.source, return_counts=True)[1]))
    talking = np.unique(np.concatenate([edges.source, edges.target]))
    if len(talking) == 2:
        words = f"ranks {talking[0]} and {talking[1]}"
        return Shape(PAIR, words, edges.total / messages.sum(), partners)
    best = max(_candidates(edges), key=lambda one: _merit(edges, one), default=None)
    all_messages = float(messages.sum() - np.trace(messages))
    share = 0.0 if best is None else edges.share(best.which) * edges.total / all_messages
    if best is None or share < SHARE_MIN:
        return Shape(IRREGULAR, "irregular", share, partners)
    return Shape(best.name, best.words, share, partners, best if best.dimensions else None)


def swept(shape: Shape) -> Shape:
    """A stencil whose messages are those of sweeps."""
    words = shape.words.replace(shape.name, f"{WAVEFRONT} (swept {shape.name})", 1)
    return replace(shape, name=WAVEFRONT, words=words)


def _candidates(edges: Edges) -> Iterator[Explained]:
    """Single shapes, and shapes whose rest is a permutation with a name."""
    yield from permutations(edges)
    for found in (*hubs(edges), *cubes(edges), *grids(edges)):
        yield found
        if SHARE_MIN / 4 < edges.share(found.which) < 1:
            yield from _with_rest(edges, found)


def _with_rest(edges: Edges, found: Explained) -> Iterator[Explained]:
    for rest in permutations(edges.without(found.which)):
        which: Which = np.ones(len(edges.source), dtype=bool)
        yield replace(
            found,
            name=f"{found.name} and {rest.name}",
            words=f"{found.words}, and {rest.words}",
            which=which,
            rules=found.rules + 2,
        )


def _merit(edges: Edges, found: Explained) -> tuple[float, ...]:
    """What explains more is better, then what needs fewer rules, fewer dimensions, no wraps.

    A hub explains any small star, a butterfly is also a grid of 2 x 2 x 2: where the rules are as
    many, the more special word counts.
    """
    special = {BUTTERFLY: 2, MASTER_WORKER: 1}.get(found.name, 0)
    if found.name == BUTTERFLY and edges.ranks == 4:
        special = 0
    return (
        round(edges.share(found.which), 2),
        -found.rules,
        special,
        -len(found.dimensions),
        -sum(found.periodic),
    )
