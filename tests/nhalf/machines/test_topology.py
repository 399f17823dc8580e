"""Topologies: how many nodes they have, and what they are made of."""

from __future__ import annotations

import pytest

from nhalf.machines.topology import (
    Crossbar,
    FatTree,
    Hypercube,
    Multistage,
    SharedMemory,
    Topology,
    Torus,
    elementary,
    in_words,
)

TREE = FatTree((4, 2, 3), (1, 2, 4), (1, 1, 1))
SEVERAL: list[Topology] = [
    SharedMemory(),
    Crossbar(16),
    TREE,
    Multistage(4, 3, 32),
    Torus((4, 3)),
    Hypercube(3),
]


def test_nodes() -> None:
    assert [topology.nodes for topology in SEVERAL] == [1, 16, 24, 32, 12, 8]


@pytest.mark.parametrize(
    ("stages", "radix", "nodes", "down", "up"),
    [
        (3, 4, 32, (4, 4, 2), (1, 4, 4)),
        (2, 4, 16, (4, 4), (1, 4)),
        (1, 8, 5, (5,), (1,)),
        (2, 4, 3, (4, 1), (1, 4)),
    ],
)
def test_stages_as_a_tree(
    stages: int, radix: int, nodes: int, down: tuple[int, ...], up: tuple[int, ...]
) -> None:
    assert elementary(Multistage(radix, stages, nodes)) == FatTree(down, up, (1,) * stages)


def test_levels_must_agree() -> None:
    with pytest.raises(ValueError, match="one entry per level"):
        FatTree((4, 4), (1,), (1, 1))


def test_short_ways_to_write_a_topology() -> None:
    tree = FatTree((8, 32), (1, 16), (1, 1), 4, "switch")
    assert elementary(tree) == FatTree((8, 32), (1, 4), (1, 1), route="switch")
    assert elementary(Hypercube(3)) == Torus((2, 2, 2))
    assert elementary(TREE) == TREE


def test_in_words() -> None:
    assert [in_words(topology) for topology in [*SEVERAL, Crossbar()]] == [
        "shared memory",
        "crossbar of 16 nodes",
        "fat tree of 4 x 2 x 3 nodes",
        "3 stages of 4-way switches",
        "4 x 3 torus",
        "3-dimensional hypercube",
        "crossbar",
    ]
