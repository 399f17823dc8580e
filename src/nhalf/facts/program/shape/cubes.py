# SPDX-License-Identifier: Apache-2.0
"""Butterflies: ranks exchange with those whose number differs in one bit, one bit after another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nhalf.facts.program.shape.edges import Edges
from nhalf.facts.program.shape.explained import Explained

BUTTERFLY = "butterfly"


def cubes(edges: Edges) -> Iterator[Explained]:
    """The butterfly of all ranks or of groups of neighbours; nothing where fewer than 2 bits."""
    if edges.ranks < 4:
        return
    masks = edges.source ^ edges.target
    which = np.zeros(len(masks), dtype=bool)
    bits = []
    for bit in range((edges.ranks - 1).bit_length()):
        chosen = masks == 1 << bit
        partners = np.arange(edges.ranks) ^ (1 << bit)
        if chosen.sum() == (partners < edges.ranks).sum() > 0 and edges.are_alike(chosen):
            which |= chosen
            bits.append(bit)
    if not bits or edges.ranks.bit_count() != 1:
        return
    name = BUTTERFLY if len(bits) > 1 else "cube" if bits[0] else "neighbour"
    yield Explained(name, _words(bits, edges.ranks), which, len(bits))


def _words(bits: list[int], ranks: int) -> str:
    whole = (ranks - 1).bit_length()
    if len(bits) == 1:
        if bits[0] == 0:
            return f"neighbour permutation of {ranks} ranks (pairs)"
        return f"cube permutation of {ranks} ranks (distance {1 << bits[0]})"
    if len(bits) == whole:
        grid = f", which is a grid of {' x '.join('2' * whole)}" if whole < 5 else ""
        return f"butterfly (recursive doubling) among {ranks} ranks{grid}"
    if bits == list(range(len(bits))):
        return f"butterfly within groups of {1 << len(bits)} consecutive ranks"
    distances = ", ".join(str(1 << bit) for bit in bits)
    return f"butterfly among {ranks} ranks at distances {distances}"
