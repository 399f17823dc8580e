"""Topologies as they are written on a command line: torus:8x8, fat-tree:16,32;1,16;1,1."""

from collections.abc import Callable

from nhalf.base.errors import InputError, unknown
from nhalf.machines.topology import (
    Crossbar,
    Direct,
    FatTree,
    Hypercube,
    Multistage,
    SharedMemory,
    Topology,
    Torus,
)

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


def _crossbar(numbers: str) -> Topology:
    return Crossbar(*_counts(numbers, ";")) if numbers else Crossbar()


def _direct(numbers: str) -> Topology:
    return Direct(*_counts(numbers, ";", least=2))


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


def _torus(numbers: str) -> Topology:
    return Torus(_counts(numbers, "x"))


def _hypercube(numbers: str) -> Topology:
    (dimension,) = _counts(numbers, ";")
    return Hypercube(min(dimension, 30))


_READERS: dict[str, Callable[[str], Topology]] = {
    "shared-memory": _shared_memory,
    "crossbar": _crossbar,
    "direct": _direct,
    "fat-tree": _fat_tree,
    "multistage": _multistage,
    "torus": _torus,
    "hypercube": _hypercube,
}
