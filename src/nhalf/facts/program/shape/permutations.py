"""Permutations: each rank sends to one other, by a rule on the bits of its number or on a grid.

A rule on bits permutes the bits and flips some of them; so the images of 0 and of the powers of two
determine it. Names as in J. Duato, S. Yalamanchili, L. Ni, Interconnection Networks, 2003.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nhalf.facts.program.shape.edges import Edges, Integers
from nhalf.facts.program.shape.explained import Explained


def permutations(edges: Edges) -> Iterator[Explained]:
    """The permutation formed by all pairs, if it has a name; ranks without a pair are fixed."""
    image = _image(edges)
    if image is None or edges.ranks < 4:
        return
    mask = np.ones(len(edges.source), dtype=bool)
    if not edges.are_alike(mask):
        return
    name = _bit_name(image) or _transpose_name(image)
    if name:
        yield Explained(name, f"{name} permutation of {edges.ranks} ranks", mask, 1)


def _image(edges: Edges) -> Integers | None:
    """The destination of each rank; None unless that is a permutation other than the identity."""
    image = np.arange(edges.ranks)
    if len(np.unique(edges.source)) != len(edges.source) or not len(edges.source):
        return None
    image[edges.source] = edges.target
    return image if len(np.unique(image)) == edges.ranks else None


def _bit_name(image: Integers) -> str:
    """The name of a rule on bits; '' if it has none."""
    ranks = len(image)
    bits = (ranks - 1).bit_length()
    if ranks != 1 << bits:
        return ""
    flipped = int(image[0])
    moved = [int(image[1 << bit]) ^ flipped for bit in range(bits)]
    if any(value.bit_count() != 1 for value in moved):
        return ""
    to = tuple(value.bit_length() - 1 for value in moved)
    expected = np.full(ranks, flipped)
    for bit, place in enumerate(to):
        expected ^= (np.arange(ranks) >> bit & 1) << place
    if not (expected == image).all():
        return ""
    return _moves_name(to, bits) if not flipped else _flips_name(to, flipped, bits)


def _flips_name(to: tuple[int, ...], flipped: int, bits: int) -> str:
    if to != tuple(range(bits)):
        return ""
    if flipped == (1 << bits) - 1:
        return "complement"
    return {1: "neighbour"}.get(flipped, "cube" if flipped.bit_count() == 1 else "")


def _moves_name(to: tuple[int, ...], bits: int) -> str:
    """`to` is the destination of each bit."""
    stay = tuple(range(bits))
    if to == tuple(reversed(stay)) and bits > 2:
        return "bit-reversal"
    swapped = [bit for bit in stay if to[bit] != bit]
    if len(swapped) == 2 and swapped[0] == 0:
        return "butterfly" if bits != 2 else "transpose"
    for by, name in ((bits // 2, "transpose"), (bits - 1, "shuffle"), (1, "unshuffle")):
        if to == tuple((bit - by) % bits for bit in stay):
            return name
    for last in range(2, bits):
        low = tuple((bit - 1) % (last + 1) for bit in range(last + 1))
        if to == low + stay[last + 1 :]:
            return "baseline"
    return ""


def _transpose_name(image: Integers) -> str:
    """Row and column exchanged, in a square grid of blocks of neighbours."""
    ranks = len(image)
    for side in range(2, int(ranks**0.5) + 1):
        if ranks % (side * side) == 0:
            cells = np.arange(ranks).reshape(side, side, -1)
            if (cells.transpose(1, 0, 2).reshape(-1) == image).all():
                return "transpose"
    return ""
