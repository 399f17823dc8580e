"""Multicasts in the simulator against what they must take; every number is exact."""

from __future__ import annotations

import itertools
import math
import subprocess

import pytest

from tests.nhalf.measure.simulate.multicast.asking import (
    ALGORITHMS,
    COSTS,
    FORWARD,
    FORWARDINGS,
    LINK,
    O_R,
    O_S,
    RATE,
    RECEIVE,
    SEND,
    Ask,
    answers,
    exactly,
    time_s,
)
from tests.patience import patience_s


@pytest.mark.parametrize("size_bytes", [0, 1, 4000, 10**9])
@pytest.mark.parametrize("destinations", [1, 2, 7])
def test_separate_addressing_posts_one_after_the_other(
    ask: Ask, destinations: int, size_bytes: int
) -> None:
    wire_s = size_bytes / RATE
    # The adapter sends while the host posts the next: the slower of the two counts.
    last_s = O_S + (destinations - 1) * max(O_S, SEND + wire_s) + SEND + wire_s
    record = ask("switch=8", "separate", destinations, size_bytes=size_bytes)
    assert time_s(record) == exactly(last_s + 2 * LINK + RECEIVE + O_R)
    assert record["values"]["host_cpu_source_s"] == exactly(destinations * O_S)
    mean_s = destinations * (O_S + O_R) / (destinations + 1)
    assert record["values"]["host_cpu_s"] == exactly(mean_s)


@pytest.mark.parametrize("nodes", [2, 4, 8, 16])
def test_the_binomial_tree_takes_as_many_messages_as_steps(ask: Ask, nodes: int) -> None:
    # The last node is reached by that many messages in a row, each the first of its sender.
    one_s = O_S + SEND + 2 * LINK + RECEIVE + O_R
    record = ask(f"switch={nodes}", "binomial", nodes - 1)
    assert time_s(record) == exactly(math.log2(nodes) * one_s)
    assert record["values"]["steps"] == math.log2(nodes)


@pytest.mark.parametrize(
    ("forwarding", "first_s", "next_s"),
    [
        ("host", O_S + SEND, O_R + O_S + SEND),
        ("nic-assisted", O_S + SEND, O_R + O_S + SEND),
        ("nic", O_S + SEND, FORWARD),
    ],
)
def test_a_chain_on_a_ring_adds_up(
    ask: Ask, forwarding: str, first_s: float, next_s: float
) -> None:
    wire_s = 5000 / RATE
    hop_s = wire_s + LINK + RECEIVE
    for name, network in (("serial", "dimensions=6"), ("s-torus", "dimensions=6,rings=one-way")):
        record = ask(network, name, 5, forwarding, size_bytes=5000)
        assert time_s(record) == exactly(first_s + 4 * next_s + 5 * hop_s + O_R)
        assert record["values"]["link_concentration"] == 1
        assert record["values"]["links_used"] == record["values"]["link_visits"] == 5


def test_messages_on_one_link_share_it(ask: Ask) -> None:
    """On a ring of one way the binomial tree sends 1 -> 3 and 2 -> 3 -> 4 at once."""
    size_bytes = 10**9
    free = "o_s=0,o_r=0,nic_send=0,nic_receive=0,nic_forward=0,link_latency=0"
    network = f"{free},link_bandwidth=1e9,rings=one-way,dimensions="
    alone_s = time_s(ask(f"{network}2", "binomial", 1, size_bytes=size_bytes, options="o_s=0"))
    assert alone_s == exactly(1)
    record = ask(f"{network}4", "binomial", 3, size_bytes=size_bytes, options="o_s=0")
    # 0 -> 1, then 0 -> 2 and 1 -> 3 share the link from 1 to 2.
    assert time_s(record) == exactly(3)
    values = record["values"]
    assert (values["link_visits"], values["links_used"], values["link_visits_max"]) == (5, 3, 2)
    assert values["link_concentration"] == exactly(2 / (5 / 3))


@pytest.mark.parametrize("draw", range(1, 6))
def test_long_and_short_routes_get_the_same_share(ask: Ask, draw: int) -> None:
    """Of 0 -> a, 0 -> b, a -> c the latter two share the link behind a all the time."""
    options = "o_s=0,o_r=0,nic_send=0,nic_receive=0,link_latency=0,link_bandwidth=1e9"
    record = ask("rings=one-way,dimensions=8", "binomial", 3, "host", 10**9, options, draw=draw)
    assert [time for time in record["rank_s"] if time] == exactly([1, 3, 3])


def test_times_far_below_a_nanosecond_add_up(ask: Ask) -> None:
    costs = dict.fromkeys(("o_s", "o_r", "nic_send", "nic_receive", "link_latency"), 1.5e-12)
    options = ",".join(f"{name}={cost}" for name, cost in costs.items())
    record = ask("dimensions=9", "serial", 8, "host", 3, f"{options},link_bandwidth=1e12")
    assert time_s(record) == exactly(8 * (5 * 1.5e-12 + 3e-12))


def test_a_bus_is_passed_on_the_way_in_and_out(ask: Ask) -> None:
    size_bytes, bus_s = 10**6, 10**6 / 5e8
    options = f"{COSTS},bus_bandwidth=5e8"
    wire_s = size_bytes / RATE
    hop_s = SEND + wire_s + 2 * LINK + RECEIVE

    def of(forwarding: str) -> float:
        return time_s(ask("switch=3", "serial", 2, forwarding, size_bytes, options))

    assert of("host") == exactly(2 * (O_S + 2 * bus_s + hop_s + O_R))
    # The adapter forwards what came in, and does not wait for the bus.
    assert of("nic") == exactly(O_S + bus_s + hop_s + FORWARD - SEND + hop_s + bus_s + O_R)
    # Two messages pass the bus one after the other, and the wire while the bus is busy.
    apart_s = time_s(ask("switch=3", "separate", 2, "host", size_bytes, options))
    assert apart_s == exactly(O_S + 2 * bus_s + hop_s + bus_s + O_R)
    # A list passes the bus once, whatever number of copies is made of it.
    two_s = time_s(ask("switch=3", "separate", 2, "nic-assisted", size_bytes, options))
    assert two_s == exactly(O_S + bus_s + SEND + wire_s + hop_s + bus_s + O_R)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("network", ["dimensions=16", "dimensions=4x4", "dimensions=4x2x2"])
def test_adapters_spare_the_hosts(ask: Ask, network: str, algorithm: str) -> None:
    for group in (1, 2, 9, 15):
        used = [ask(network, algorithm, group, forwarding) for forwarding in FORWARDINGS]
        host, assisted, adapter = (record["values"]["host_cpu_s"] for record in used)
        assert adapter <= assisted <= host
        assert host == exactly(group * (O_S + O_R) / (group + 1))
        assert adapter == exactly((O_S + group * O_R) / (group + 1))
        reached = {sum(time > 0 for time in record["rank_s"]) for record in used}
        assert reached == {group + 1}
        assert len({record["values"]["link_visits"] for record in used}) == 1
        if algorithm in ("separate", "binomial", "u-torus") and group > 1:
            assert adapter < host


def test_the_same_question_has_the_same_answer_bit_for_bit(program: str) -> None:
    lines = [
        f"id={draw} pattern=multicast bytes=3000 axis.algorithm=mu-torus axis.forwarding=host "
        f"axis.group=9 axis.draw={draw}"
        for draw in (1, 2)
    ]
    first, other = answers(program, "dimensions=4x4", lines)
    assert answers(program, "dimensions=4x4", [*lines, lines[0]]) == [first, other, first]
    assert first["rank_s"] != other["rank_s"]


def test_larger_groups_have_the_destinations_of_smaller_ones(ask: Ask) -> None:
    reached = [
        {
            rank
            for rank, time in enumerate(ask("dimensions=4x4", "separate", group)["rank_s"])
            if time
        }
        for group in range(1, 16)
    ]
    for small, large in itertools.pairwise(reached):
        assert small < large


def test_parts_change_what_mu_torus_does(ask: Ask) -> None:
    halves = ask("dimensions=4x4", "mu-torus", 15, parts=1)
    assert halves["values"]["steps"] == 4
    path = ask("dimensions=4x4", "mu-torus", 15, parts=15)
    assert path["samples_s"] == ask("dimensions=4x4", "s-torus", 15)["samples_s"]
    usual = ask("dimensions=4x4", "mu-torus", 15)
    assert usual == ask("dimensions=4x4", "mu-torus", 15, parts=3)
    assert halves["samples_s"] != usual["samples_s"] != path["samples_s"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("pattern=pingpong", "unknown pattern"),
        ("pattern=multicast axis.algorithm=best axis.group=1", "no value 'best'"),
        ("pattern=multicast axis.algorithm=u-torus axis.group=1", "is for a torus"),
        ("pattern=multicast axis.group=8", "from 1 to 7"),
        ("pattern=multicast axis.group=0", "from 1 to 7"),
        ("pattern=multicast", "from 1 to 7"),
        ("pattern=multicast axis.group=1 axis.forwarding=post", "no value 'post'"),
        ("pattern=multicast axis.group=1 axis.parts=0", "1 or more"),
        ("pattern=multicast axis.group=1 axis.colour=red", "no axis 'colour'"),
        ("pattern=multicast bytes=-1 axis.group=1", "not a number that fits"),
        ("pattern=multicast bytes=1e3 axis.group=1", "not a number that fits"),
        ("nonsense", "key=value"),
    ],
)
def test_a_point_that_cannot_be_says_why(program: str, line: str, reason: str) -> None:
    record, after = answers(program, "switch=8", [f"id=7 {line}", "id=8 pattern=x"])
    assert record["nhalf"] == after["nhalf"] == "error"
    assert reason in record["message"]
    assert after["id"] == "8"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--options", "colour=red"],
        ["--options", "dimensions=4x"],
        ["--options", "rings=round"],
        ["--options", "link_bandwidth=0"],
        ["--options", "o_s=-1"],
        ["--options", "o_s=nan"],
        ["--options", "switch=-2"],
        ["--ranks", "17"],
        ["--ranks", "1"],
        ["--ranks"],
        ["--lanks"],
    ],
)
def test_wrong_arguments_are_one_line(program: str, arguments: list[str]) -> None:
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=patience_s(20)
    )
    assert done.returncode == 2
    assert done.stderr.startswith("multicast: ")
    assert done.stderr.count("\n") == 1
