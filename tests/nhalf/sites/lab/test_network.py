""""""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.sites.lab import network
from nhalf.sites.lab.layout import HEAD, Lab

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


@pytest.mark.parametrize("text", ["", "1", "fast", "-1gbit", "0mbit", "1GB", "1e3mbit", "1tbit"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        network.parse_link_rate(text)


@pytest.mark.parametrize("text", ["999kbit", "101gbit"])
def test_rates_that_cannot_be_made_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="between 1mbit and 100gbit"):
        network.parse_link_rate(text)


@pytest.mark.parametrize(
    ("text", "rate_Bps"),
    [("200mbit", 25e6), ("1gbit", 125e6), ("2.5 Gbit/s", 312.5e6), ("1000kbit", 125e3)],
)
def test_rates_are_bytes_per_second(text: str, rate_Bps: float) -> None:
    assert network.parse_link_rate(text) == rate_Bps


@pytest.mark.parametrize("text", ["200 Mbit/s", "1 Gbit/s", "2.5 Gbit/s"])
def test_a_rate_is_shown_as_it_may_be_written(text: str) -> None:
    assert network.rate_text(network.parse_link_rate(text)) == text


def test_the_share_of_payload_is_that_of_full_frames() -> None:
    assert pytest.approx(1448 / 1514) == network.PAYLOAD_SHARE


@pytest.mark.parametrize(
    ("rate_Bps", "packet"),
    [(None, 65536), (1.25e5, 2896), (25e6, 3275), (125e6, 16375), (1e10, 65536)],
)
def test_packets_go_with_the_rate(rate_Bps: float | None, packet: int) -> None:
    assert network.packet_bytes(rate_Bps) == packet


def test_a_bucket_holds_two_packets_with_their_headers() -> None:
    assert network.burst_bytes(1.25e5) == 2 * (2896 + 2 * 66)
    assert network.burst_bytes(125e6) == 2 * (16375 + 12 * 66)


def test_the_command_of_a_shaped_port() -> None:
    assert network.bucket_command("eth0", 125e6, 4) == (
        "qdisc replace dev eth0 root tbf rate 125000000bps burst 34334 limit 33554432"
    )


def test_a_port_is_given_back_its_speed() -> None:
    line = network.bucket_command("n1", None, 4)
    assert line == "qdisc replace dev n1 root pfifo limit 100000"


def test_the_queue_grows_with_the_senders_and_has_an_end() -> None:
    limits = [
        int(network.bucket_command("n1", 1e6, senders).rpartition(" ")[2])
        for senders in (1, 4, 8, 1000)
    ]
    assert limits == [32 << 20, 32 << 20, 64 << 20, 1 << 30]
