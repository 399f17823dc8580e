"""The name of a communication pattern, with its evidence; irregular if nothing is certain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.numbers import format_number, percent
from nhalf.facts.fact import fact
from nhalf.facts.program.matrix import communication_matrix
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.cubes import BUTTERFLY, cubes
from nhalf.facts.program.shape.edges import Edges, PairMask
from nhalf.facts.program.shape.explained import Explained
from nhalf.facts.program.shape.grid_words import WAVEFRONT
from nhalf.facts.program.shape.grids import grids
from nhalf.facts.program.shape.hubs import MASTER_WORKER, hubs
from nhalf.facts.program.shape.permutations import permutations
from nhalf.facts.program.shape.sweeps import is_swept

SHARE_MIN = 0.9
"""The share of all messages that a shape must explain."""
NONE, IRREGULAR, PAIR = "none", "", "pair"


@dataclass(frozen=True)
class TrafficShape:
    """The pattern of point-to-point messages.

    `name` is NONE without messages, IRREGULAR if no known shape explains them; `share` is the
    share of messages that the shape explains, `partners` the median number of destinations.
    """

    name: str
    words: str
    share: float
    partners: float
    grid: Explained | None = None

    @property
    def evidence(self) -> str:
        """The evidence for the name, in a sentence."""
        if self.name == NONE:
            return "There are no point-to-point messages between different ranks."
        if not self.name:
            return "No known shape explains 90 % of the messages."
        if self.name == PAIR:
            subject = "All" if self.share == 1 else f"{percent(self.share)} of the"
            return f"{subject} messages are between {self.words}."
        if self.share == 1:
            return "All messages follow it."
        return f"{format_number(self.share * 100)} % of the messages follow it."


def shape_of(messages: Floats, sizes: Floats | None = None) -> TrafficShape:
    """The shape of a matrix of messages (from row to column), with their bytes if known."""
    edges = Edges.of(messages, sizes)
    if not edges.total:
        return TrafficShape(NONE, "no point-to-point messages", 1.0, 0.0)
    partners = float(np.median(np.unique(edges.source, return_counts=True)[1]))
    talking = np.unique(np.concatenate([edges.source, edges.target]))
    if len(talking) == 2:
        words = f"ranks {talking[0]} and {talking[1]}"
        return TrafficShape(PAIR, words, edges.total / messages.sum(), partners)
    best = max(_candidates(edges), key=lambda candidate: _merit(edges, candidate), default=None)
    all_messages = float(messages.sum() - np.trace(messages))
    share = 0.0 if best is None else edges.share(best.mask) * edges.total / all_messages
    if best is None or share < SHARE_MIN:
        return TrafficShape(IRREGULAR, "irregular", share, partners)
    return TrafficShape(best.name, best.words, share, partners, best if best.dimensions else None)


@fact
def communication_shape(program: Program) -> TrafficShape:
    """The shape of a program's messages; a stencil that is swept is a wavefront."""
    matrix = communication_matrix(program)
    shape = shape_of(matrix.messages, matrix.bytes)
    # A circulating token is not a wavefront.
    has_ends = shape.grid is not None and not any(shape.grid.periodic)
    return swept(shape) if has_ends and is_swept(program) else shape


def swept(shape: TrafficShape) -> TrafficShape:
    """A stencil whose messages form sweeps."""
    words = shape.words.replace(shape.name, f"{WAVEFRONT} (swept {shape.name})", 1)
    return replace(shape, name=WAVEFRONT, words=words)


def _candidates(edges: Edges) -> Iterator[Explained]:
    """Single shapes, and shapes whose remainder is a named permutation."""
    yield from permutations(edges)
    for shape in (*hubs(edges), *cubes(edges), *grids(edges)):
        yield shape
        if SHARE_MIN / 4 < edges.share(shape.mask) < 1:
            yield from _with_rest(edges, shape)


def _with_rest(edges: Edges, main: Explained) -> Iterator[Explained]:
    for remainder in permutations(edges.without(main.mask)):
        mask: PairMask = np.ones(len(edges.source), dtype=bool)
        yield replace(
            main,
            name=f"{main.name} and {remainder.name}",
            words=f"{main.words}, and {remainder.words}",
            mask=mask,
            rules=main.rules + 2,
        )


def _merit(edges: Edges, candidate: Explained) -> tuple[float, ...]:
    """Prefers shapes that explain more, then fewer rules, fewer dimensions, no wrap-around.

    A hub explains any small star, a butterfly is also a grid of 2 x 2 x 2: with equal numbers of
    rules, the more specific term wins.
    """
    special = {BUTTERFLY: 2, MASTER_WORKER: 1}.get(candidate.name, 0)
    if candidate.name == BUTTERFLY and edges.ranks == 4:
        special = 0
    return (
        round(edges.share(candidate.mask), 2),
        -candidate.rules,
        special,
        -len(candidate.dimensions),
        -sum(candidate.periodic),
    )
