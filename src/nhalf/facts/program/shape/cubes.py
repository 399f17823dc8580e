"""Butterflies: ranks exchange with those whose number differs in one bit, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nhalf.facts.program.shape.edges import Edges
from nhalf.facts.program.shape.explained import Explained

BUTTERFLY = "butterfly"
GRID_BITS_MAX = 4
"""Programs do not use grids with more dimensions."""
SAME = 0.01


def cubes(edges: Edges) -> Iterator[Explained]:
    """The butterfly of all ranks or of groups of neighbours; none for fewer than 2 bits."""
    if edges.ranks < 4:
        return
    flips = edges.source ^ edges.target
    mask = np.zeros(len(flips), dtype=bool)
    bits = []
    for bit in range((edges.ranks - 1).bit_length()):
        along_bit = flips == 1 << bit
        partners = np.arange(edges.ranks) ^ (1 << bit)
        if along_bit.sum() == (partners < edges.ranks).sum() > 0 and edges.are_alike(along_bit):
            mask |= along_bit
            bits.append(bit)
    if not bits or edges.ranks.bit_count() != 1:
        return
    if len(bits) == (edges.ranks - 1).bit_length() <= GRID_BITS_MAX and _has_faces(edges, bits):
        return
    name = BUTTERFLY if len(bits) > 1 else "cube" if bits[0] else "neighbour"
    yield Explained(name, _words(bits, edges.ranks), mask, len(bits))


def _has_faces(edges: Edges, bits: list[int]) -> bool:
    """Whether sizes look like a grid's faces: one for each dimension.

    In a butterfly they are equal, or halved from one bit to the next.
    """
    if len(bits) < 3:
        return False
    masks = edges.source ^ edges.target
    sizes = [edges.mean_bytes(masks == 1 << bit) for bit in bits]
    if min(sizes) <= 0:
        return False
    halvings = np.log2(np.array(sizes) / min(sizes))
    return bool((np.abs(halvings - halvings.round()) > SAME).any())


def _words(bits: list[int], ranks: int) -> str:
    whole = (ranks - 1).bit_length()
    if len(bits) == 1:
        if bits[0] == 0:
            return f"neighbour permutation of {ranks} ranks (pairs)"
        return f"cube permutation of {ranks} ranks (distance {1 << bits[0]})"
    if len(bits) == whole:
        small = whole <= GRID_BITS_MAX
        grid = f", which is a grid of {' x '.join('2' * whole)}" if small else ""
        return f"butterfly (recursive doubling) among {ranks} ranks{grid}"
    if bits == list(range(len(bits))):
        return f"butterfly within groups of {1 << len(bits)} consecutive ranks"
    distances = ", ".join(str(1 << bit) for bit in bits)
    return f"butterfly among {ranks} ranks at distances {distances}"
