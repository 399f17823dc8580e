from __future__ import annotations

import pytest

from nhalf.sites.lab import network
from nhalf.sites.lab.layout import HEAD
from nhalf.sites.lab.state import Lab

STAR = Lab("some", 2, rate_Bps=125e6, slow_Bps={"n2": 25e6})
RING = Lab("some", 3, topology="ring", rate_Bps=125e6, slow_Bps={"n1-n2": 25e6})


def test_cables_of_a_star_have_both_ends_where_they_belong() -> None:
    assert network.cables(STAR).splitlines() == [
        "netns add nhalf-some-ctl",
        "netns add nhalf-some-n1",
        "netns add nhalf-some-n2",
        "netns add nhalf-some-s0",
        "link add name eth0 netns nhalf-some-ctl type veth peer name ctl netns nhalf-some-s0",
        "link add name eth0 netns nhalf-some-n1 type veth peer name n1 netns nhalf-some-s0",
        "link add name eth0 netns nhalf-some-n2 type veth peer name n2 netns nhalf-some-s0",
    ]


def test_no_link_of_a_lab_is_in_the_network_of_the_machine() -> None:
    lines = network.cables(RING).splitlines()
    assert all(line.count("netns nhalf-some-") == 2 for line in lines if line.startswith("link"))


def test_a_node_has_one_port_and_one_address() -> None:
    for lab in (STAR, RING):
        assert network.setup(lab, "n2").splitlines() == [
            "link set lo up",
            "address add 198.18.0.2/24 dev eth0",
            "link set eth0 up",
        ]


def test_a_switch_has_all_its_ports_on_one_bridge() -> None:
    assert network.setup(STAR, "s0").splitlines() == [
        "link set lo up",
        "link add name bridge type bridge forward_delay 0",
        "link set bridge up",
        "link set ctl master bridge",
        "link set n1 master bridge",
        "link set n2 master bridge",
        "link set ctl up",
        "link set n1 up",
        "link set n2 up",
    ]


def test_a_router_has_its_address_on_the_way_to_the_head() -> None:
    assert network.setup(RING, "r1").splitlines() == [
        "link set lo up",
        "address add 198.18.0.129/25 dev s0",
        "link set s0 up",
        "link set n1 up",
        "link set r2 up",
        "link set r3 up",
        "route add 198.18.0.1 dev n1",
        "route add 198.18.0.2 via 198.18.0.130 dev r2 onlink",
        "route add 198.18.0.3 via 198.18.0.131 dev r3 onlink",
    ]


def test_the_head_of_a_ring_reaches_nodes_by_their_routers() -> None:
    assert network.setup(RING, HEAD).splitlines() == [
        "link set lo up",
        "address add 198.18.0.254/25 dev eth0",
        "link set eth0 up",
        "route add 198.18.0.1 via 198.18.0.129",
        "route add 198.18.0.2 via 198.18.0.130",
        "route add 198.18.0.3 via 198.18.0.131",
    ]


def test_only_routers_forward() -> None:
    assert "ip_forward" in network.settings(RING, "r1")
    for place in ("n1", "s0"):
        assert "ip_forward" not in network.settings(RING, place)


@pytest.mark.parametrize(
    ("lab", "link", "rate_Bps"),
    [
        (STAR, "n1", 125e6),
        (STAR, "n2", 25e6),
        (RING, "n1", None),
        (RING, "n2-n3", 125e6),
        (RING, "n1-n2", 25e6),
    ],
)
def test_rates_of_links(lab: Lab, link: str, rate_Bps: float | None) -> None:
    assert network.rate_of(lab, lab.layout.link(link)) == rate_Bps


def test_both_ends_of_a_link_are_shaped() -> None:
    ends = network.buckets(STAR, STAR.layout.link("n1"), 125e6)
    assert [(place, line.split(" root ")[0]) for place, line in ends] == [
        ("n1", "qdisc replace dev eth0"),
        ("s0", "qdisc replace dev n1"),
    ]
