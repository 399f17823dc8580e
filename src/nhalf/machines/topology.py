"""The topology of a machine's network, without its rates and latencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

Several = Annotated[int, msgspec.Meta(ge=1)]
Levels = Annotated[tuple[Several, ...], msgspec.Meta(min_length=1)]


class SharedMemory(msgspec.Struct, frozen=True, tag_field="kind", tag="shared-memory"):
    """One node, no network."""

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return 1

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes from one node to another."""
        return 0


class Crossbar(msgspec.Struct, frozen=True, tag_field="kind", tag="crossbar"):
    """Every node has one link to one switch that never blocks; 0: as many nodes as asked for."""

    nodes: Annotated[int, msgspec.Meta(ge=0)] = 0

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes from one node to another: to the switch, and from it."""
        return 0 if first == second else 2


class Direct(msgspec.Struct, frozen=True, tag_field="kind", tag="direct"):
    """Every node has its own link to every other."""

    nodes: Annotated[int, msgspec.Meta(ge=2)]

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes from one node to another."""
        return int(first != second)


class FatTree(msgspec.Struct, frozen=True, tag_field="kind", tag="fat-tree"):
    """Level by level from the leaves: nodes or switches below a switch, switches above each, and
    cables side by side (C. Leiserson, "Fat-trees: universal networks for hardware-efficient
    supercomputing", IEEE Transactions on Computers C-34, 1985; the parameters are those of
    S. Oehring et al., "On generalized fat trees", IPPS 1995).

    All three have one entry per level, otherwise ValueError. In a tree of two levels `uplinks` are
    the cables from a leaf switch up, where they are fewer than one to each switch above. Routes are
    fixed: by the node that a message goes to, or by the leaf switches at both ends.
    """

    down: Levels
    up: Levels
    cables: Levels
    uplinks: Several | None = None
    route: Literal["node", "switch"] = "node"

    def __post_init__(self) -> None:
        if not len(self.down) == len(self.up) == len(self.cables):
            raise ValueError("down, up and cables of a fat tree need one entry per level each")
        if len(self.down) != 2 and (self.uplinks or self.route != "node"):
            raise ValueError("uplinks and route are those of a tree of two levels")

    @property
    def cables_up(self) -> int:
        """Cables from a leaf switch up, in a tree of two levels."""
        return self.uplinks or self.up[1] * self.cables[1]

    def cable(self, first: int, second: int) -> int:
        """The cables of both leaf switches that a message takes, in a tree of two levels."""
        leaves = first // self.down[0] + second // self.down[0]
        return (second if self.route == "node" else leaves) % self.cables_up

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return math.prod(self.down)

    @property
    def switches(self) -> tuple[int, ...]:
        """The number of switches on each level, from the leaves up."""
        levels = range(1, len(self.down) + 1)
        return tuple(math.prod(self.down[level:]) * math.prod(self.up[:level]) for level in levels)

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes: up to the lowest switch above both nodes, and down again."""
        level = 0
        while first != second:
            first, second = first // self.down[level], second // self.down[level]
            level += 1
        return 2 * level


class Multistage(msgspec.Struct, frozen=True, tag_field="kind", tag="multistage"):
    """Switches of `radix` ports on each side in stages that are passed both ways: from every
    switch as many links lead up as lead down, so that nothing blocks but chance.
    """

    radix: Annotated[int, msgspec.Meta(ge=2)]
    stages: Several
    nodes: Several

    def as_fat_tree(self) -> FatTree:
        """The tree of the same distances and the same bandwidth above every node.

        The last stage is as wide as the nodes need.
        """
        below = self.radix ** (self.stages - 1)
        down = (*[self.radix] * (self.stages - 1), max(1, -(-self.nodes // below)))
        up = (1, *[self.radix] * (self.stages - 1))
        return FatTree(down, up, (1,) * self.stages)

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes: up to the lowest switch above both nodes, and down again."""
        return self.as_fat_tree().links_between(first, second)


class Torus(msgspec.Struct, frozen=True, tag_field="kind", tag="torus"):
    """A grid with links to both neighbours in every dimension, closed to rings."""

    dimensions: Levels

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return math.prod(self.dimensions)

    def coordinates(self, node: int) -> tuple[int, ...]:
        """The coordinates of a node, the first dimension running fastest."""
        coordinates = []
        for size in self.dimensions:
            coordinates.append(node % size)
            node //= size
        return tuple(coordinates)

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes, the shorter way round in every dimension."""
        pairs = zip(self.coordinates(first), self.coordinates(second), strict=True)
        return sum(
            min((a - b) % size, (b - a) % size)
            for (a, b), size in zip(pairs, self.dimensions, strict=True)
        )


class Hypercube(msgspec.Struct, frozen=True, tag_field="kind", tag="hypercube"):
    """2^dimension nodes, linked where their numbers differ in one bit."""

    dimension: Annotated[int, msgspec.Meta(ge=1, le=30)]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return 1 << self.dimension

    def links_between(self, first: int, second: int) -> int:
        """Links that a message passes: the number of bits in which both nodes differ."""
        return (first ^ second).bit_count()


Topology = SharedMemory | Crossbar | Direct | FatTree | Multistage | Torus | Hypercube


def in_words(topology: Topology) -> str:
    """A short description of a topology."""
    match topology:
        case Crossbar(nodes):
            words = f"crossbar of {nodes} nodes" if nodes else "crossbar"
        case Direct(nodes):
            words = f"{nodes} nodes joined directly"
        case FatTree(down):
            words = f"fat tree of {_product(down)} nodes"
        case Multistage(radix, stages):
            words = f"{stages} stages of {radix}-way switches"
        case Torus(dimensions):
            words = f"{_product(dimensions)} torus"
        case Hypercube(dimension):
            words = f"{dimension}-dimensional hypercube"
        case _:
            words = "shared memory"
    return words


def _product(factors: Sequence[int]) -> str:
    return " x ".join(map(str, factors))
