"""The topology of a machine's network, without rates and latencies; as it is written, torus:8x8."""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import msgspec

from nhalf.base.errors import InputError, unknown

Several = Annotated[int, msgspec.Meta(ge=1)]
Levels = Annotated[tuple[Several, ...], msgspec.Meta(min_length=1)]


class SharedMemory(msgspec.Struct, frozen=True, tag_field="kind", tag="shared-memory"):
    """One node, no network."""

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return 1


class Crossbar(msgspec.Struct, frozen=True, tag_field="kind", tag="crossbar"):
    """Every node has one link to one switch that never blocks; 0: as many nodes as asked for."""

    nodes: Annotated[int, msgspec.Meta(ge=0)] = 0


class Direct(msgspec.Struct, frozen=True, tag_field="kind", tag="direct"):
    """Every node has its own link to every other."""

    nodes: Annotated[int, msgspec.Meta(ge=2)]


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
    def nodes(self) -> int:
        """The number of nodes."""
        return math.prod(self.down)


class Multistage(msgspec.Struct, frozen=True, tag_field="kind", tag="multistage"):
    """Switches of `radix` ports on each side in stages that are passed both ways: from every
    switch as many links lead up as lead down, so that nothing blocks but chance.
    """

    radix: Annotated[int, msgspec.Meta(ge=2)]
    stages: Several
    nodes: Several


class Torus(msgspec.Struct, frozen=True, tag_field="kind", tag="torus"):
    """A grid with links to both neighbours in every dimension, closed to rings."""

    dimensions: Levels

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return math.prod(self.dimensions)


class Hypercube(msgspec.Struct, frozen=True, tag_field="kind", tag="hypercube"):
    """2^dimension nodes, linked where their numbers differ in one bit."""

    dimension: Annotated[int, msgspec.Meta(ge=1, le=30)]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return 1 << self.dimension


Topology = SharedMemory | Crossbar | Direct | FatTree | Multistage | Torus | Hypercube


def elementary(topology: Topology) -> SharedMemory | Crossbar | Direct | FatTree | Torus:
    """The topology of the same nodes and links without short ways to write it.

    Stages are a tree of the same distances and the same bandwidth above every node, the last one as
    wide as the nodes need; cables from a leaf switch up are side by side, whatever is above them.
    """
    match topology:
        case Multistage(radix, stages, nodes):
            below = stages - 1
            down = (*[radix] * below, max(1, -(-nodes // radix**below)))
            return FatTree(down, (1, *[radix] * below), (1,) * stages)
        case FatTree(down, up, cables, uplinks, route) if uplinks:
            return FatTree(down, (up[0], uplinks), (cables[0], 1), route=route)
        case Hypercube(dimension):
            return Torus((2,) * dimension)
    return topology


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


NODES_MAX = 2**20
EXAMPLES = {
    "shared-memory": "shared-memory",
    "crossbar": "crossbar or crossbar:64",
    "direct": "direct:4",
    "fat-tree": "fat-tree:16,32;1,16;1,1 (below, above, cables; from the leaves)",
    "multistage": "multistage:4,3,64 (ports on a side, stages, nodes)",
    "torus": "torus:8x8",
    "hypercube": "hypercube:5",
}


def parse_topology(text: str) -> Topology:
    """The topology of a text; raises InputError if it is none, or has too many nodes."""
    kind, _, numbers = text.strip().partition(":")
    if kind not in _READERS:
        raise unknown("topology", kind, EXAMPLES)
    try:
        topology = _READERS[kind](numbers)
    except (ValueError, TypeError):
        raise InputError(f"{text!r} is no {kind}", f"write {EXAMPLES[kind]}") from None
    if topology.nodes > NODES_MAX:
        raise InputError(f"{text} has more than {NODES_MAX} nodes", "take a smaller one")
    return topology


def _counts(text: str, separator: str, least: int = 1) -> tuple[int, ...]:
    """Parse integers, none of them below `least`; raises ValueError for anything else."""
    words = text.split(separator)
    if len(words) > 20 or not all(w.isascii() and w.isdecimal() and len(w) < 8 for w in words):
        raise ValueError
    counts = tuple(map(int, words))
    if min(counts) < least:
        raise ValueError
    return counts


def _shared_memory(numbers: str) -> Topology:
    if numbers:
        raise ValueError
    return SharedMemory()


def _fat_tree(numbers: str) -> Topology:
    down, up, cables = (_counts(part, ",") for part in numbers.split(";"))
    if not len(down) == len(up) == len(cables):
        raise ValueError
    return FatTree(down, up, cables)


def _multistage(numbers: str) -> Topology:
    radix, stages, nodes = _counts(numbers, ",")
    if radix < 2 or stages > 20 or nodes > radix**stages:
        raise ValueError
    return Multistage(radix, stages, nodes)


def _hypercube(numbers: str) -> Topology:
    (dimension,) = _counts(numbers, ";")
    return Hypercube(min(dimension, 30))


_READERS: dict[str, Callable[[str], Topology]] = {
    "shared-memory": _shared_memory,
    "crossbar": lambda numbers: Crossbar(*_counts(numbers, ";")) if numbers else Crossbar(),
    "direct": lambda numbers: Direct(*_counts(numbers, ";", least=2)),
    "fat-tree": _fat_tree,
    "multistage": _multistage,
    "torus": lambda numbers: Torus(_counts(numbers, "x")),
    "hypercube": _hypercube,
}
