"""Topologies: how many nodes and switches they have, and how far apart nodes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.machines.topology import (
    Crossbar,
    FatTree,
    Hypercube,
    Multistage,
    SharedMemory,
    Topology,
    Torus,
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


def test_links_between() -> None:
    assert SharedMemory().links_between(0, 0) == 0
    assert [Crossbar().links_between(0, node) for node in (0, 1, 5)] == [0, 2, 2]
    assert [TREE.links_between(0, node) for node in (0, 3, 4, 7, 8, 23)] == [0, 2, 4, 4, 6, 6]
    assert [Hypercube(3).links_between(1, node) for node in (1, 0, 2, 6)] == [0, 1, 2, 3]
    torus = Torus((4, 3))
    assert torus.coordinates(7) == (3, 1)
    assert [torus.links_between(0, node) for node in range(12)] == [
        *(0, 1, 2, 1),
        *(1, 2, 3, 2),
        *(1, 2, 3, 2),
    ]


def test_switches_of_a_fat_tree_level_by_level() -> None:
    # 6 over the nodes; each has 2 above, in 3 groups of 2; each of those has 4 above.
    assert TREE.switches == (6, 6, 8)
    assert FatTree((16, 27), (1, 2), (1, 4)).switches == (27, 2)
    assert FatTree((8, 32), (1, 16), (1, 1)).switches == (32, 16)


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
    tree = Multistage(radix, stages, nodes).as_fat_tree()
    assert (tree.down, tree.up, tree.cables) == (down, up, (1,) * stages)
    assert tree.nodes >= nodes


def test_levels_must_agree() -> None:
    with pytest.raises(ValueError, match="one entry per level"):
        FatTree((4, 4), (1,), (1, 1))


@given(st.sampled_from(SEVERAL), st.data())
def test_distance_is_one_way_or_the_other(topology: Topology, data: st.DataObject) -> None:
    nodes = st.integers(0, topology.nodes - 1)
    first, second = data.draw(nodes), data.draw(nodes)
    links = topology.links_between(first, second)
    assert links == topology.links_between(second, first)
    assert (links == 0) == (first == second)


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
