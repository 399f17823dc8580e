"""What if: what a change does to links, curves and parameters, and what is refused."""

from __future__ import annotations

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.machines.change import NAMES, OVERHEAD_SHARE, change
from nhalf.machines.machine import (
    Machine,
    Network,
    Node,
    Protocol,
)
from nhalf.machines.machine_file import encode
from nhalf.machines.topology import Crossbar, FatTree, Hypercube, Multistage, SharedMemory, Torus
from tests.nhalf.machines.changing import MACHINE, WITHOUT_OVERHEADS, curve, segment


def test_a_faster_network_is_one_for_links_adapters_and_messages() -> None:
    found = change(MACHINE, ["network.bandwidth=2x"])
    assert found.network is not None
    assert (found.network.bandwidth_Bps, found.network.adapter_Bps) == (2e9, 1.8e9)
    between, within, exchange = found.models
    assert [one.r_inf_Bps for one in between.segments] == [1e9, 1.6e9]
    assert [one.t0_s for one in between.segments] == [10e-6, 20e-6]
    assert between.segments[1].root_s == 5e-9
    assert between.segments[0].n_half_bytes == pytest.approx(1e4)
    assert within == MACHINE.models[1]
    assert exchange == MACHINE.models[2]
    (loggp,) = found.loggp
    assert loggp.gap_per_byte_s == 1e-9
    assert loggp.sizes[0].gap_s == pytest.approx(4e-6)
    assert loggp.latency_s == 6e-6


def test_the_change_is_said() -> None:
    found = change(MACHINE, ["network.bandwidth = 2x"])
    assert found.name == "box (network.bandwidth = 2x)"
    assert found.title == "A box (network.bandwidth = 2x)"
    again = change(found, ["node.ranks=4"])
    assert again.name == "box (network.bandwidth = 2x, node.ranks=4)"
    assert again.assumptions == ("changed: network.bandwidth = 2x", "changed: node.ranks=4")
    assert found.patterns == found.points == ()
    assert change(MACHINE, []) is MACHINE
    assert change(msgspec.structs.replace(MACHINE, name="a (b)"), ["node.ranks=4"]).name == (
        "a (b) (node.ranks=4)"
    )
    assert b"changed" in encode(found)


@pytest.mark.parametrize(
    ("text", "rate_Bps", "adapter_Bps"),
    [
        ("network.bandwidth=/2", 5e8, 4.5e8),
        ("network.bandwidth=0.5x", 5e8, 4.5e8),
        ("network.bandwidth_Bps=+1GBps", 2e9, 1.8e9),
        ("network.bandwidth=-0.5GB/s", 5e8, 4.5e8),
        ("network.bandwidth=12GBps", 12e9, 10.8e9),
        ("network.bandwidth=8 Gbit/s", 1e9, 9e8),
    ],
)
def test_ways_to_write_a_change(text: str, rate_Bps: float, adapter_Bps: float) -> None:
    found = change(MACHINE, [text])
    assert found.network is not None
    assert found.network.bandwidth_Bps == pytest.approx(rate_Bps)
    assert found.network.adapter_Bps == pytest.approx(adapter_Bps)
    assert found.models[0].segments[0].r_inf_Bps == pytest.approx(5e8 * rate_Bps / 1e9)


def test_latency_is_what_processors_do_not_spend() -> None:
    found = change(MACHINE, ["network.latency=/2"])
    assert found.network is not None
    assert found.network.latency_s == 5e-8
    # o_s + o_r = 4 us of 10 and 20 us stay.
    assert [one.t0_s for one in found.models[0].segments] == pytest.approx([7e-6, 12e-6])
    assert found.models[1:] == MACHINE.models[1:]
    assert found.loggp[0].latency_s == pytest.approx(3e-6)
    assert found.loggp[0].half_round_trip_s == pytest.approx(7e-6)
    assert change(MACHINE, ["network.latency=0.3us"]).models[0].segments[0].t0_s == (
        pytest.approx(22e-6)
    )


def test_a_start_up_below_the_overheads_stays_and_never_becomes_negative() -> None:
    low = curve(segment(0, 99, 3e-6, 1e9), segment(100, 999, -1e-6, 1e9), placement="other-node")
    machine = msgspec.structs.replace(MACHINE, models=(low,))
    found = change(machine, ["network.latency=/1000"])
    assert [one.t0_s for one in found.models[0].segments] == [3e-6, -1e-6]


def test_unknown_overheads_are_assumed_said_and_kept() -> None:
    found = change(WITHOUT_OVERHEADS, ["network.latency=/2"])
    assert found.models[0].segments[0].t0_s == pytest.approx(10e-6 * (0.5 + OVERHEAD_SHARE))
    (loggp,) = found.loggp
    assert loggp.send_overhead_s == loggp.recv_overhead_s == 2.5e-6
    assert found.assumptions[1] == (
        "send and receive overhead are 25% of t0 each: they are unknown"
    )
    again = change(found, ["network.latency=2x"])
    assert again.models[0].segments[0].t0_s == pytest.approx(10e-6)


def test_memory_is_for_messages_within_a_node() -> None:
    found = change(MACHINE, ["node.memory=16GBps"])
    assert found.node is not None
    assert found.node.memory_Bps == 16e9
    assert found.models[1].segments[0].r_inf_Bps == 8e9
    assert found.models[0] == MACHINE.models[0]
    assert change(MACHINE, ["node.memory=/4"]).models[1].segments[0].r_inf_Bps == 1e9


@pytest.mark.parametrize(
    ("text", "topology"),
    [
        ("torus:8x8", Torus((8, 8))),
        ("torus:5", Torus((5,))),
        ("fat-tree:16,32;1,16;1,1", FatTree((16, 32), (1, 16), (1, 1))),
        ("crossbar", Crossbar()),
        ("crossbar:64", Crossbar(64)),
        ("hypercube:5", Hypercube(5)),
        ("multistage:4,3,64", Multistage(4, 3, 64)),
        ("shared-memory", SharedMemory()),
    ],
)
def test_topologies(text: str, topology: object) -> None:
    found = change(MACHINE, [f"network.topology={text}"])
    assert found.network is not None
    assert found.network.topology == topology
    assert found.network.bandwidth_Bps == 1e9
    assert found.models == MACHINE.models


def test_a_changed_curve_is_not_what_its_source_says() -> None:
    model = msgspec.structs.replace(MACHINE.models[0], source="A book, page 3")
    machine = msgspec.structs.replace(MACHINE, models=(model,))
    for changes in (["network.bandwidth=2x"], ["network.bandwidth=2x", "network.latency=/2"]):
        assert change(machine, changes).models[0].source == "A book, page 3 (changed)"
    assert change(machine, ["node.memory=2x"]).models[0].source == "A book, page 3"


def test_who_is_far_from_whom_goes_with_the_topology() -> None:
    near, far = (
        msgspec.structs.replace(MACHINE.models[0], axes=f"distance={ranks}") for ranks in (2, 8)
    )
    machine = msgspec.structs.replace(MACHINE, models=(far, near, *MACHINE.models[1:]))
    found = change(machine, ["network.topology=crossbar"])
    assert found.models == (near, *MACHINE.models[1:])
    assert "as near as the nearest" in found.assumptions[1]
    assert len(change(machine, ["network.bandwidth=2x"]).models) == len(machine.models)


@pytest.mark.parametrize(
    ("text", "borders"),
    [
        ("16K", [(0, 16383), (16384, 4194304)]),
        ("1M", [(0, 1048575), (1048576, 4194304)]),
        ("2x", [(0, 131071), (131072, 4194304)]),
        ("64M", [(0, 4194304)]),
    ],
)
def test_the_border_at_the_threshold_moves(text: str, borders: list[tuple[int, int]]) -> None:
    found = change(MACHINE, [f"protocol.rendezvous={text}"])
    segments = found.models[0].segments
    assert [(one.from_bytes, one.to_bytes) for one in segments] == borders
    assert segments[0].t0_s == 10e-6
    assert segments[-1].t0_s == (20e-6 if len(segments) == 2 else 10e-6)
    assert len(found.models[0].breakpoints) == len(segments) - 1
    assert found.models[1] == MACHINE.models[1]


def test_a_border_elsewhere_is_no_threshold() -> None:
    machine = msgspec.structs.replace(MACHINE, protocol=Protocol(rendezvous_bytes=1024))
    found = change(machine, ["protocol.rendezvous=16K"])
    assert found.models == MACHINE.models
    assert found.protocol == Protocol(rendezvous_bytes=16384)
    assert "no curve shows the old rendezvous threshold" in found.assumptions[1]


def test_everything_may_be_unknown() -> None:
    bare = Machine(name="bare", network=Network(topology=Crossbar()))
    found = change(bare, ["network.bandwidth=1GBps", "network.latency=1us", "node.memory=1GBps"])
    assert found.network == Network(topology=Crossbar(), bandwidth_Bps=1e9, latency_s=1e-6)
    assert found.node == Node(memory_Bps=1e9)
    assert change(Machine(name="one"), ["network.topology=crossbar"]).network == bare.network
    curves = msgspec.structs.replace(MACHINE, network=Network(topology=Crossbar()))
    faster = change(curves, ["network.bandwidth=2x"])
    assert faster.models[0].segments[0].r_inf_Bps == 1e9
    assert faster.network == Network(topology=Crossbar())
    for text in ("network.bandwidth=1GBps", "network.latency=1us", "network.latency=+1us"):
        with pytest.raises(InputError, match="is unknown; give a factor"):
            change(curves, [text])
    with pytest.raises(InputError, match="has no network; give it one first"):
        change(Machine(name="one"), ["network.bandwidth=2x"])


@pytest.mark.parametrize("name", list(NAMES))
@pytest.mark.parametrize(
    "value",
    ["", "0", "0x", "-1x", "nanx", "nan", "infx", "/0", "inf", "/", "x", "1e999x", "2y", "+"],
)
def test_what_is_no_change_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError):
        change(MACHINE, [f"{name}={value}"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("network.bandwith=2x", "did you mean network.bandwidth"),
        ("bandwidth", "write NAME=VALUE"),
        ("", "write NAME=VALUE: network.bandwidth"),
        ("=2x", "write NAME=VALUE"),
        ("network.bandwidth=12Gbps", "write 2x, /2"),
        ("network.bandwidth=-1GBps", "has to stay above 0"),
        ("network.latency=-1s", "has to stay above 0"),
        ("network.topology=torus:0x4", "is no torus; write torus:8x8"),
        ("network.topology=torus:", "is no torus"),
        ("network.topology=torus:2000x2000", "more than 1048576 nodes"),
        ("network.topology=hypercube:99", "more than 1048576 nodes"),
        ("network.topology=fat-tree:4,4;1;1,1", "is no fat-tree"),
        ("network.topology=fat-tree:4", "is no fat-tree"),
        ("network.topology=multistage:2,1,3", "is no multistage"),
        ("network.topology=shared-memory:3", "is no shared-memory"),
        ("network.topology=ring", "unknown topology"),
        ("node.ranks=1.5", "not a number of ranks"),
    ],
)
def test_refusals_say_what_to_write(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        change(MACHINE, [text])
