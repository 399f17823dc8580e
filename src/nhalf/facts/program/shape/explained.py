"""Shapes that explain who talks to whom, beside grids: cubes, hubs and permutations.

A rule on bits permutes the bits and flips some of them; so the images of 0 and of the powers of two
determine it. Names as in J. Duato, S. Yalamanchili, L. Ni, Interconnection Networks, 2003.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats

Integers = NDArray[np.int64]
PairMask = NDArray[np.bool_]

RARE_SHARE = 0.01
RARE = 0.1
"""Pairs with less than a tenth of the typical number of messages, which together have at most a
hundredth of all, are left out: a last message to a neighbour, the timing of a whole run."""
ALIKE_SHARE = 0.9
"""The share of a class's pairs with the same number of messages if a rule generates them."""
ALIKE = 0.01
"""Numbers of messages that differ by no more count as equal."""


@dataclass(frozen=True)
class Edges:
    """Directed pairs of different ranks, with the messages of each and their bytes, 0 if unknown;
    `ranks` is the total number.
    """

    ranks: int
    source: Integers
    target: Integers
    messages: Floats
    bytes: Floats

    @classmethod
    def of(cls, messages: Floats, sizes: Floats | None = None) -> Edges:
        """The pairs of a communication matrix, without those that hardly ever communicate."""
        counted = messages.copy()
        np.fill_diagonal(counted, 0.0)
        source, target = np.nonzero(counted)
        number = counted[source, target]
        rare = number < RARE * (np.median(number) if len(number) else 0)
        if number[rare].sum() > RARE_SHARE * number.sum():
            rare[:] = False
        source, target = source[~rare], target[~rare]
        pair_bytes = np.zeros(len(source)) if sizes is None else sizes[source, target]
        return cls(len(messages), source, target, number[~rare], pair_bytes)

    @cached_property
    def total(self) -> float:
        """The number of all messages."""
        return float(self.messages.sum())

    def share(self, mask: PairMask) -> float:
        """The share of messages between some of the pairs, 0 to 1."""
        return float(self.messages[mask].sum()) / self.total if self.total else 0.0

    def without(self, mask: PairMask) -> Edges:
        """Leave out the pairs of a mask."""
        remaining = ~mask
        source, target = self.source[remaining], self.target[remaining]
        pairs = (source, target, self.messages[remaining], self.bytes[remaining])
        return Edges(self.ranks, *pairs)

    def mean_bytes(self, mask: PairMask) -> float:
        """The mean size of the messages between some of the pairs."""
        messages = float(self.messages[mask].sum())
        return float(self.bytes[mask].sum()) / messages if messages else 0.0

    def are_alike(self, mask: PairMask) -> bool:
        """Whether nearly all of some pairs have the same number of messages, as if from a rule."""
        numbers = self.messages[mask]
        usual = np.median(numbers)
        is_alike = np.abs(numbers - usual) <= ALIKE * usual
        return bool(is_alike.mean() >= ALIKE_SHARE)


@dataclass(frozen=True)
class Explained:
    """A shape with the pairs that it explains, and the number of rules needed.

    `name` is the established term, `words` adds its numbers; `directions` is the index of the rule
    for each pair, -1 for unexplained pairs.
    """

    name: str
    words: str
    mask: PairMask
    rules: int
    dimensions: tuple[int, ...] = ()
    steps: tuple[tuple[int, ...], ...] = ()
    periodic: tuple[bool, ...] = ()


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
