"""What the simulator is told of a machine: no message takes anything but what its curve says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.machines import catalogue
from nhalf.machines.change import OVERHEAD_SHARE, change
from nhalf.machines.machine import FittedModel, LogGP, Machine, Network, Node, Segment
from nhalf.machines.message import Messages
from nhalf.machines.topology import (
    Crossbar,
    FatTree,
    Hypercube,
    Multistage,
    SharedMemory,
    Topology,
    Torus,
)
from nhalf.machines.wires import EAGER_BYTES
from nhalf.measure.simulate.description import NODES_MAX, describe

SIZES = [0, 1, 7, 8, 100, 511, 512, 4095, 65535, 65536, 65537, 262143, 1 << 20, 1 << 22, 1 << 24]
CHANGES = (
    (),
    ("network.bandwidth=2x",),
    ("network.latency=/2",),
    ("protocol.rendezvous=4K",),
    ("network.topology=torus:4x4",),
)
OF_LINKS = CHANGES[1:3]


@dataclass
class Curve:
    """A curve as the simulator reads it."""

    apart: int
    segments: list[dict[str, float]] = field(default_factory=list)

    def at(self, size_bytes: int) -> dict[str, float]:
        return [one for one in self.segments if one["from_bytes"] <= size_bytes][-1]

    def time_s(self, size_bytes: int) -> float:
        one = self.at(size_bytes)
        fixed_s = one["send_s"] + one["latency_s"] + one["recv_s"]
        return fixed_s + size_bytes / one["rate_Bps"]


@dataclass
class Read:
    """A description as the simulator reads it."""

    topology: dict[str, str]
    link: dict[str, float]
    node: dict[str, float]
    shares: list[dict[str, float]]
    curves: list[Curve]


def read(text: str) -> Read:
    curves: list[Curve] = []
    shares = []
    other: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        word, *pairs = line.split(" ")
        values = dict(pair.split("=") for pair in pairs)
        if word == "curve":
            curves.append(Curve(int(values["apart"])))
        elif word == "segment":
            curves[-1].segments.append({name: float(value) for name, value in values.items()})
        elif word == "share":
            shares.append({name: float(value) for name, value in values.items()})
        else:
            assert word not in other
            other[word] = values
    link, node = ({k: float(v) for k, v in other[word].items()} for word in ("link", "node"))
    return Read(other["topology"], link, node, shares, curves)


def segment(low: int, high: int, t0_s: float, rate_Bps: float = 1e9, root_s: float = 0) -> Segment:
    return Segment(from_bytes=low, to_bytes=high, t0_s=t0_s, r_inf_Bps=rate_Bps, root_s=root_s)


EAGER, LATE = segment(0, 65535, 4e-6), segment(65536, 1 << 22, 20e-6, 2e9)


def curve(
    *segments: Segment, placement: str = "other-node", mpi: str = "", axes: str = ""
) -> FittedModel:
    return FittedModel(
        transport="mpi", mpi=mpi, pattern="pingpong", ranks=2, placement=placement, axes=axes,
        segments=segments or (EAGER, LATE),
    )  # fmt: skip


def machine(topology: Topology | None = None, *models: FittedModel, **more: object) -> Machine:
    network = Network(topology=topology or Crossbar(4), bandwidth_Bps=3e9, latency_s=1e-7)
    plain = Machine(name="box", node=Node(ranks=2), network=network, models=models or (curve(),))
    return msgspec.structs.replace(plain, **more)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("changes", CHANGES, ids=" ".join)
@pytest.mark.parametrize("name", catalogue.names())
def test_all_that_is_told_is_possible(name: str, changes: tuple[str, ...]) -> None:
    machine = catalogue.machine(name)
    linked = machine.network and not isinstance(machine.network.topology, SharedMemory)
    if changes in OF_LINKS and not linked:
        with pytest.raises(InputError, match="has no network"):
            change(machine, changes)
        return
    known = describe(Messages(change(machine, changes)), nodes=4)
    told = read(known.text)
    assert known.nodes == told.node["count"] >= 1
    assert len(set(known.assumed)) == len(known.assumed)
    apart = [one.apart for one in told.curves]
    assert apart == sorted(set(apart))
    assert apart[:2] == [0, 1]
    for one in told.curves:
        begins = [piece["from_bytes"] for piece in one.segments]
        assert begins[0] == 0
        assert begins == sorted(set(begins))
        for piece in one.segments:
            assert all(math.isfinite(value) and value >= 0 for value in piece.values()), piece
            assert piece["rate_Bps"] > 0
            wide_Bps = told.node["bandwidth_Bps"] if one.apart == 0 else told.link["bandwidth_Bps"]
            assert piece["rate_Bps"] <= wide_Bps * (1 + 1e-9)
            for share in told.shares:
                ways_Bps = share["one_way_Bps"] or share["both_ways_Bps"]
                if one.apart or not share["away"]:
                    assert piece["rate_Bps"] <= ways_Bps * (1 + 1e-9)


@pytest.mark.parametrize("name", catalogue.names())
def test_the_parts_of_a_time_add_up_to_the_published_one(name: str) -> None:
    known = catalogue.machine(name)
    told = read(describe(Messages(known), nodes=2).text)
    models = [one for one in known.models if one.pattern == "pingpong" and one.segments]
    compared = 0
    for model in models:
        between = model.placement == "other-node"
        # The first curve of a distance in ranks holds from there on.
        ranks = known.node.ranks if known.node else 1
        distance = int(model.axes.removeprefix("distance=") or "0")
        apart = max(1, distance // ranks) if between else 0
        found = [one for one in told.curves if one.apart <= apart][-1]
        for size in SIZES:
            covered = any(s.from_bytes <= size <= s.to_bytes for s in model.segments)
            if covered and model.time_s(size) > 0:
                assert found.time_s(size) == pytest.approx(model.time_s(size), rel=0.01), size
                compared += 1
    assert compared > 0


def test_processors_are_busy_for_messages_of_any_size() -> None:
    loggp = LogGP(transport="mpi", send_overhead_s=1e-6, recv_overhead_s=2e-6)
    told = read(describe(Messages(machine(loggp=(loggp,)))).text).curves[1]
    for size, latency_s in ((65535, 1e-6), (65536, 17e-6)):
        piece = told.at(size)
        assert (piece["send_s"], piece["recv_s"]) == pytest.approx((1e-6, 2e-6))
        assert piece["latency_s"] == pytest.approx(latency_s)


def test_long_sends_end_when_their_bytes_have_left_as_below_a_library() -> None:
    told = read(describe(Messages(machine())).text)
    assert told.node["eager_bytes"] == EAGER_BYTES


@pytest.mark.parametrize(
    ("nodes", "is_alone"), [(["a", "b", "c"], True), (["a", "b", "b"], False), (["a"], True)]
)
def test_ranks_alone_on_their_nodes_have_the_ways_of_these(
    nodes: list[str], is_alone: bool
) -> None:
    text = describe(Messages(machine()), nodes=3).text_for(nodes)
    assert ("alone" in text.splitlines()) == is_alone


def test_overheads_that_are_not_known_are_a_share_and_said_to_be_assumed() -> None:
    known = describe(Messages(machine()))
    first = read(known.text).curves[1].at(0)
    assert first["send_s"] == first["recv_s"] == pytest.approx(OVERHEAD_SHARE * 4e-6)
    assert any("o_s and o_r are unknown" in line for line in known.assumed)


def test_overheads_of_more_than_the_latency_are_cut_in_proportion() -> None:
    loggp = LogGP(transport="mpi", send_overhead_s=6e-6, recv_overhead_s=2e-6)
    first = read(describe(Messages(machine(loggp=(loggp,)))).text).curves[1].at(0)
    assert (first["send_s"], first["recv_s"]) == pytest.approx((2.7e-6, 0.9e-6))
    assert first["latency_s"] == pytest.approx(0.4e-6)


@pytest.mark.parametrize(
    ("topology", "wiring", "nodes", "nearest"),
    [
        (SharedMemory(), {"kind": "star"}, 1, 2),
        (Crossbar(5), {"kind": "star"}, 5, 2),
        (Crossbar(), {"kind": "star"}, 7, 2),
        (Torus((4, 3, 2)), {"kind": "torus", "dimensions": "4,3,2"}, 24, 1),
        (Hypercube(3), {"kind": "torus", "dimensions": "2,2,2"}, 8, 1),
        (
            FatTree((4, 3), (1, 2), (1, 1)),
            {"kind": "fat-tree", "route": "node", "down": "4,3", "up": "1,2", "cables": "1,1"},
            12,
            2,
        ),
    ],
    ids=str,
)
def test_wirings(topology: Topology, wiring: dict[str, str], nodes: int, nearest: int) -> None:
    known = describe(Messages(machine(topology)), nodes=7)
    told = read(known.text)
    assert told.topology == wiring
    assert (known.nodes, told.link["nearest"]) == (nodes, nearest)


def test_stages_are_a_fat_tree_of_as_many_nodes() -> None:
    known = describe(Messages(machine(Multistage(4, 2, 16))))
    told = read(known.text).topology
    assert told["kind"] == "fat-tree"
    assert math.prod(map(int, told["down"].split(","))) == known.nodes == 16


def test_a_crossbar_without_a_size_has_two_nodes_at_least() -> None:
    messages = Messages(machine(Crossbar()))
    assert [describe(messages, nodes=n).nodes for n in (0, 1, 2, 9)] == [2, 2, 2, 9]


def test_a_link_is_never_slower_than_its_ping_pong() -> None:
    network = Network(topology=Crossbar(2), bandwidth_Bps=1e6)
    told = read(describe(Messages(machine(network=network))).text)
    assert told.link["bandwidth_Bps"] == pytest.approx(2e9)
    assert told.curves[1].time_s(1 << 22) == pytest.approx(LATE.time_s(1 << 22))


def test_distances_in_ranks_are_distances_of_nodes() -> None:
    curves = [curve(segment(0, 9, t0), axes=f"distance={d}") for d, t0 in ((2, 1.0), (8, 2.0))]
    near = curve(segment(0, 9, 0.5), placement="same-node")
    told = read(describe(Messages(machine(Crossbar(9), near, *curves))).text)
    assert [one.apart for one in told.curves] == [0, 1, 4]
    assert [one.time_s(0) for one in told.curves] == pytest.approx([0.5, 1.0, 2.0])


def test_the_nearest_curve_holds_between_neighbours_whatever_its_distance() -> None:
    told = read(describe(Messages(machine(Crossbar(9), curve(axes="distance=8")))).text)
    assert [one.apart for one in told.curves] == [0, 1]


@pytest.mark.parametrize("placement", ["same-node", "other-node"])
def test_one_curve_stands_for_the_other(placement: str) -> None:
    messages = Messages(machine(None, curve(placement=placement)))
    within, between = read(describe(messages).text).curves
    assert within.time_s(100) == between.time_s(100) == pytest.approx(EAGER.time_s(100))


@pytest.mark.parametrize(("placement", "nodes"), [("cores", 1), ("2x1", 6), ("other-node", 6)])
def test_a_machine_that_was_measured_here_has_no_network(placement: str, nodes: int) -> None:
    measured = Machine(name="here", models=(curve(placement=placement),))
    known = describe(Messages(measured), nodes=6)
    assert (known.nodes, known.ranks_per_node) == (nodes, 0)


def test_one_of_several_libraries_has_to_be_named() -> None:
    fast, slow = (curve(segment(0, 9, t0), mpi=name) for name, t0 in (("fast", 1.0), ("slow", 2.0)))
    both = machine(None, fast, slow)
    with pytest.raises(InputError, match="fast, slow"):
        describe(Messages(both))
    with pytest.raises(InputError, match="unknown library 'slew'; did you mean slow"):
        describe(Messages(both, "slew"))
    assert read(describe(Messages(both, "slow")).text).curves[1].time_s(0) == pytest.approx(2.0)


@pytest.mark.parametrize("models", [(), (curve(),)], ids=["none", "other pattern"])
def test_without_a_ping_pong_nothing_can_be_simulated(models: tuple[FittedModel, ...]) -> None:
    others = tuple(msgspec.structs.replace(model, pattern="stream") for model in models)
    with pytest.raises(InputError, match="no curve of a ping-pong"):
        describe(Messages(Machine(name="box", models=others)))


@pytest.mark.parametrize(
    "odd",
    [
        (segment(0, 1 << 22, 0.0, math.inf),),
        (segment(0, 1 << 22, 5e-6, math.inf),),
        (segment(0, 7, 5e-6, math.inf), segment(8, 1 << 22, -1e-6)),
        (segment(0, 511, 5e-6), segment(512, 1 << 22, 0.0, 9e6, -7e-6)),
        (segment(16, 16, 5e-6),),
    ],
    ids=["nothing at all", "flat", "negative t0", "root", "one size"],
)
def test_odd_curves_stay_possible(odd: tuple[Segment, ...]) -> None:
    for one in read(describe(Messages(machine(None, curve(*odd)))).text).curves:
        for piece in one.segments:
            assert all(math.isfinite(value) and value >= 0 for value in piece.values())
            assert piece["rate_Bps"] > 0


def test_more_nodes_than_can_be_held_are_refused() -> None:
    with pytest.raises(InputError, match=f"{NODES_MAX} can be simulated"):
        describe(Messages(machine(Hypercube(21))))


def test_operations_in_a_memory_are_said_to_be_simulated_as_messages() -> None:
    words = "barrier, alltoall of altix-bx2 are performed in its memory"
    assert any(words in line for line in describe(Messages(catalogue.machine("altix-bx2"))).assumed)
    dell = describe(Messages(catalogue.machine("poweredge-ib"))).assumed
    assert not any("performed in its memory" in line for line in dell)


def test_spacings_are_told_where_they_are_known() -> None:
    known = describe(Messages(catalogue.machine("sp2-mpl")))
    told = known.text_for(list("01234567")).removeprefix(known.text)
    assert "between both 4096 -52000000 61728395062 0\n" in told
    assert f"between out 0 {round((15.5 - 5.5 / 7) * 1e6)} 31000000000 0\n" in told
    alone = known.text_for([str(node) for node in range(32)])
    assert f"between in 0 {round((13.3 + 3 / 31) * 1e6)} " in alone
    plain = describe(Messages(catalogue.machine("x1-ssp")))
    assert plain.text_for(["0", "1", "1"]) == plain.text


def test_ranks_of_one_node_move_what_they_do_within_it() -> None:
    """An exchange within a node of the PowerEdge is slower than one between nodes."""
    known = describe(Messages(catalogue.machine("poweredge-ib")))
    (spread, *_), (within, *_) = (read(known.text_for(nodes)).shares for nodes in ("01", "00"))
    assert within["both_ways_Bps"] < spread["both_ways_Bps"]


def test_processors_are_busy_where_the_line_of_a_table_begins_below_nothing() -> None:
    """From 64 to 128 KiB the time of this record more than doubles."""
    machine = catalogue.machine("aws-c5n")
    (curve, *_) = read(describe(Messages(machine), 8).text).curves
    shortest = curve.at(0)
    assert shortest["send_s"] > 0
    for size_bytes in (65536, 80000, 131071, 131072):
        segment = curve.at(size_bytes)
        assert [segment[name] for name in ("send_s", "recv_s")] == pytest.approx(
            [shortest[name] for name in ("send_s", "recv_s")]
        )
        expected_s = machine.models[0].time_s(size_bytes)
        assert curve.time_s(size_bytes) == pytest.approx(expected_s, rel=3e-3)
