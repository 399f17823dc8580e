from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.sites.lab.layout import HEAD, NODES_MAX, LabCable, LabLayout, layout


def titles(shape: LabLayout) -> list[str]:
    return [shape.title(link) for link in shape.data_links]


@pytest.mark.parametrize("nodes", [0, -1, NODES_MAX + 1])
def test_too_few_or_too_many_nodes_are_refused(nodes: int) -> None:
    with pytest.raises(InputError, match=f"choose 1 to {NODES_MAX}"):
        layout("star", nodes)


def test_an_unknown_topology_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="did you mean star"):
        layout("stra", 4)


@pytest.mark.parametrize("topology", ["star", "ring", "tree"])
def test_one_node_is_a_lab(topology: str) -> None:
    shape = layout(topology, 1)
    assert shape.nodes == ("n1",)
    assert all(place in {HEAD, "n1", "s0", "s1", "r1"} for place in shape.places)


def test_a_star_has_a_shaped_link_for_each_node_and_the_head_is_not_shaped() -> None:
    shape = layout("star", 3)
    assert shape.links == (
        LabCable(HEAD, "s0", shaped=False),
        LabCable("n1", "s0"),
        LabCable("n2", "s0"),
        LabCable("n3", "s0"),
    )
    assert shape.places == (HEAD, "n1", "n2", "n3", "s0")


def test_a_tree_shapes_the_links_between_switches_too() -> None:
    assert titles(layout("tree", 4)) == ["s1-s0", "s2-s0", "n1-s1", "n2-s1", "n3-s2", "n4-s2"]
    assert [len(layout("tree", n).switches) for n in (1, 2, 3, 5, 9, 16)] == [2, 2, 3, 3, 4, 5]


def test_a_ring_shapes_the_links_between_routers_and_names_them_by_nodes() -> None:
    shape = layout("ring", 4)
    assert titles(shape)[4:] == ["n1-n2", "n2-n3", "n3-n4", "n4-n1"]
    shaped = [(link.a, link.b) for link in shape.links if link.shaped]
    assert shaped == [("r1", "r2"), ("r2", "r3"), ("r3", "r4"), ("r4", "r1")]


@pytest.mark.parametrize(("nodes", "links"), [(1, 0), (2, 1), (3, 3)])
def test_short_rings_have_no_double_links(nodes: int, links: int) -> None:
    assert len([link for link in layout("ring", nodes).links if link.shaped]) == links


def test_routes_of_a_ring_of_four_at_one_router() -> None:
    routes = [route for at, route in layout("ring", 4).routes if at == "r1"]
    assert routes == [
        "{net}.1 dev n1",
        "{net}.2 via {net}.130 dev r2 onlink",
        "{net}.3 via {net}.130 dev r2 onlink",
        "{net}.4 via {net}.132 dev r4 onlink",
    ]


def test_the_head_reaches_each_node_of_a_ring_by_the_router_of_that_node() -> None:
    routes = [route for at, route in layout("ring", 2).routes if at == HEAD]
    assert routes == ["{net}.1 via {net}.129", "{net}.2 via {net}.130"]


@given(st.integers(1, 40), st.data())
def test_every_route_of_a_ring_arrives_by_a_shortest_way(nodes: int, data: st.DataObject) -> None:
    shape = layout("ring", nodes)
    here, there = (data.draw(st.integers(1, nodes)) for _ in range(2))
    tables = {(at, route.split()[0]): route for at, route in shape.routes}
    hops, place = 0, here
    while "via" in (route := tables[f"r{place}", f"{{net}}.{there}"]):
        neighbour = int(route.split("dev r")[1].split()[0])
        assert any({link.a, link.b} == {f"r{place}", f"r{neighbour}"} for link in shape.links)
        hops, place = hops + 1, neighbour
    assert place == there
    assert hops == min((there - here) % nodes, (here - there) % nodes)


def test_links_are_found_by_node_or_by_both_ends_in_any_order() -> None:
    ring = layout("ring", 4)
    assert ring.link("n2") == LabCable("n2", "r2", shaped=False)
    assert ring.link("n2-n1") == ring.link("n1-n2") == LabCable("r1", "r2")
    assert layout("tree", 4).link("s0-s2") == LabCable("s2", "s0")


@pytest.mark.parametrize("name", ["", "n9", "n1-n3", "r1", "ctl", "ctl-s0", "n1-n1", "n1-r1-n2"])
def test_links_that_are_not_there_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown link"):
        layout("ring", 4).link(name)
