"""The platform for SimGrid: what is written, and what SMPI itself makes of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.simgrid import SimGrid
from nhalf.exchange.platforms import NODES
from nhalf.machines import catalogue
from nhalf.machines.change import change
from nhalf.machines.machine import FittedModel, LogGP, Machine, Network, Node, Protocol, Segment
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
from tests.nhalf.machines.recorded import NAMES_AND_A_TABLE
from tests.patience import patience_s

SIZES = [0, 1, 7, 8, 100, 511, 512, 1000, 4095, 4096, 65535, 65536, 65537, 262143, 1048576, 4194304]
ROUNDS = 20
NEAR = 0.005


def segment(low: int, high: int, t0_s: float, rate_Bps: float = 1e30, root_s: float = 0) -> Segment:
    return Segment(from_bytes=low, to_bytes=high, t0_s=t0_s, r_inf_Bps=rate_Bps, root_s=root_s)


def curve(*segments: Segment, placement: str = "other-node", mpi: str = "") -> FittedModel:
    return FittedModel(
        transport="mpi",
        mpi=mpi,
        pattern="pingpong",
        ranks=2,
        placement=placement,
        segments=segments,
    )


STEPS = (
    segment(0, 511, 4e-6, 2e8),
    segment(512, 65535, 6e-6, 9e8),
    segment(65536, 4194304, 20e-6, 1.7e9),
)
ODD = (
    Segment(from_bytes=0, to_bytes=7, t0_s=5e-6),
    segment(8, 65535, 9e-6, 12e6),
    segment(65536, 4194304, 0.0, 9.39e6, -7.78e-6),
)
LOGGP = LogGP(transport="mpi", send_overhead_s=1e-6, recv_overhead_s=2e-6)
FAT_TREE = FatTree((4, 4), (1, 4), (1, 1))


def machine(
    topology: Topology | None = None, segments: tuple[Segment, ...] = STEPS, **more: object
) -> Machine:
    network = Network(topology=topology or Crossbar(8), bandwidth_Bps=3.2e9)
    plain = Machine(
        name="box",
        node=Node(ranks=2),
        network=network,
        protocol=Protocol(rendezvous_bytes=65536),
        models=(curve(*segments),),
    )
    return msgspec.structs.replace(plain, **more)


def linked(topology: Topology, latency_s: float) -> Machine:
    network = Network(topology=topology, bandwidth_Bps=3.2e9, latency_s=latency_s)
    return machine(network=network)


MACHINES = {
    "crossbar": machine(),
    "known-overheads": machine(loggp=(LOGGP,)),
    "large-overheads": machine(
        loggp=(msgspec.structs.replace(LOGGP, send_overhead_s=5e-6, recv_overhead_s=1e-6),)
    ),
    "fat-tree": linked(FAT_TREE, 5e-8),
    "torus": linked(Torus((4, 2)), 1e-7),
    "slow-links": linked(Torus((3, 3)), 5e-6),
    "hypercube": machine(Hypercube(3)),
    "multistage": machine(Multistage(4, 2, 16)),
    "half-duplex": machine(
        network=Network(topology=Crossbar(4), bandwidth_Bps=1e6, duplex=False),
    ),
    "odd-curve": machine(segments=ODD),
    "one-node": machine(
        SharedMemory(), models=(curve(*STEPS, placement="same-node"), curve(*ODD, mpi="x"))
    ),
    "fitted": Machine(name="fit", models=(curve(*STEPS, placement=""),)),
    "what-if": change(machine(), ["network.bandwidth=2x", "network.latency=/2"]),
    "moved-threshold": change(machine(), ["protocol.rendezvous=4K"]),
}


def config(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {prop.attrib["id"]: prop.attrib["value"] for prop in root.iter("prop")}


def cluster(text: str) -> dict[str, str]:
    (found,) = ElementTree.fromstring(text).iter("cluster")
    return found.attrib


def simulated(platform: Path, program: Path, second: str = "node-1") -> dict[int, float]:
    """Seconds by size, as SMPI has them; two ranks on the first and another node."""
    hosts = platform.with_name("hosts")
    alone = "<cluster" not in platform.read_text()
    hosts.write_text("node-0:2\n" if alone else f"node-0\n{second}\n")
    where = ["-np", "2", "-platform", str(platform), "-hostfile", str(hosts)]
    sizes = [str(size) for size in SIZES]
    done = subprocess.run(
        ["smpirun", *where, str(program), str(ROUNDS), *sizes, "--log=root.thres:warning"],
        cwd=platform.parent, capture_output=True, text=True, check=False, timeout=patience_s(120),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    rows = re.findall(r"^(\d+) (\S+)$", done.stdout, re.MULTILINE)
    return {int(size): float(time_s) for size, time_s in rows}


@pytest.mark.parametrize("name", list(MACHINES))
def test_smpi_repeats_the_curve(name: str, ping_pong: Path, tmp_path: Path) -> None:
    platform = tmp_path / "platform.xml"
    platform.write_text(SimGrid().text(MACHINES[name]))
    (segments,) = [one.segments for one in MACHINES[name].models if one.mpi == ""]
    times = simulated(platform, ping_pong)
    assert list(times) == SIZES
    for size, time_s in times.items():
        (expected,) = [one for one in segments if one.from_bytes <= size <= one.to_bytes]
        assert time_s == pytest.approx(expected.time_s(size), rel=NEAR), size


def test_distance_costs_what_links_cost(ping_pong: Path, tmp_path: Path) -> None:
    platform = tmp_path / "platform.xml"
    platform.write_text(SimGrid().text(MACHINES["fat-tree"]))
    near, far = simulated(platform, ping_pong), simulated(platform, ping_pong, "node-5")
    for size in (size for size in SIZES if size < 65536):
        # Two links more of 50 ns.
        assert far[size] - near[size] == pytest.approx(1e-7, rel=0.01)
    assert far[65536] > near[65536] + 1e-6


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES_AND_A_TABLE)
def test_smpi_repeats_machines_of_record(name: str, ping_pong: Path, tmp_path: Path) -> None:
    record = catalogue.machine(name)
    platform = tmp_path / "platform.xml"
    platform.write_text(SimGrid().text(record))
    segments = Messages(record).curve.segments
    compared = 0
    for size, time_s in simulated(platform, ping_pong).items():
        for expected in (one for one in segments if one.from_bytes <= size <= one.to_bytes):
            assert time_s == pytest.approx(expected.time_s(size), rel=0.02), size
            compared += 1
    assert compared > 0


@pytest.mark.parametrize("name", list(MACHINES))
def test_nothing_is_negative_and_nothing_faster_than_its_link(name: str) -> None:
    text = SimGrid().text(MACHINES[name])
    found = config(text)
    for option in ("lat-factor", "bw-factor", "os", "ois", "or"):
        steps = [step.split(":") for step in found[f"smpi/{option}"].split(";")]
        assert all(float(number) >= 0 for step in steps for number in step)
        assert steps[0][0] == "0"
        if option == "bw-factor":
            assert all(0 < float(factor) <= 1 + 1e-9 for _, factor in steps)
    assert int(found["smpi/async-small-thresh"]) <= int(found["smpi/send-is-detached-thresh"])
    assert found["smpi/simulate-computation"] == "no"
    assert found["smpi/host-speed"] == "1Gf"


@pytest.mark.parametrize(
    ("topology", "kind", "parameters", "nodes"),
    [
        (Crossbar(8), None, None, 8),
        (Crossbar(), None, None, NODES),
        (FAT_TREE, "FAT_TREE", "2;4,4;1,4;1,1", 16),
        (Multistage(4, 2, 10), "FAT_TREE", "2;4,3;1,4;1,1", 12),
        (Torus((4, 1, 3)), "TORUS", "4,3", 12),
        (Hypercube(3), "TORUS", "2,2,2", 8),
    ],
)
def test_topologies(
    topology: Topology, kind: str | None, parameters: str | None, nodes: int
) -> None:
    found = cluster(SimGrid().text(machine(topology)))
    assert (found.get("topology"), found.get("topo_parameters")) == (kind, parameters)
    assert found["radical"] == f"0-{nodes - 1}"
    assert found["core"] == "2"


def test_start_up_times_are_divided() -> None:
    found = config(SimGrid().text(MACHINES["known-overheads"]))
    assert found["smpi/os"] == found["smpi/ois"] == "0:1e-06:0;65535:0:0"
    assert found["smpi/or"] == "0:2e-06:0;65535:0:0"
    # Of 4, 6 and 20 us what overheads and 16 bytes of header leave; two links.
    ways_s = [4e-6 - 3e-6 - 16 / 2e8, 6e-6 - 3e-6 - 16 / 9e8, 20e-6 - 16 / 1.7e9]
    steps = [step.split(":") for step in found["smpi/lat-factor"].split(";")]
    assert [step[0] for step in steps] == ["0", "527", "65551"]
    assert [float(step[1]) for step in steps] == pytest.approx([way / ways_s[0] for way in ways_s])
    latency = cluster(SimGrid().text(MACHINES["known-overheads"]))["lat"]
    assert float(latency.removesuffix("s")) == pytest.approx(ways_s[0] / 2)
    # Where distances differ, latency is that of links, and all else is overhead.
    tree = config(SimGrid().text(MACHINES["fat-tree"]))
    assert tree["smpi/os"] == "0:1.91e-06:0;511:2.941111111e-06:0;65535:0:0"
    assert tree["smpi/lat-factor"] == "0:1;65551:199.9058824"


def test_ranks_size_a_crossbar_and_must_fit_elsewhere() -> None:
    asked = SimGrid(ExportOptions(ranks=9))
    assert cluster(asked.text(machine(Crossbar())))["radical"] == "0-4"
    assert "-np 9 " in asked.text(machine(Crossbar()))
    with pytest.raises(InputError, match="9 ranks need 5 nodes of 2; there are 4"):
        asked.text(machine(Torus((2, 2))))
    assert 'core="9"' in asked.text(MACHINES["one-node"])


def test_what_is_assumed_is_said() -> None:
    fitted = SimGrid().text(MACHINES["fitted"])
    assert "That sends wait for their receives from 64 KiB on is assumed." in fitted
    assert "Overheads are unknown" in fitted
    assert "The rate of a link is unknown" in fitted
    assert "changed: network.bandwidth=2x, network.latency=/2" in SimGrid().text(
        MACHINES["what-if"]
    )
    assert "faster than the 1 MB/s of a link" in SimGrid().text(MACHINES["half-duplex"])
    within = machine(models=(curve(*STEPS), curve(segment(0, 99, 1e-6, 5e9), placement="1x2")))
    text = SimGrid().text(within)
    assert "Within a node 2.03 µs (of 1 µs) and 5 GB/s" in text
    assert cluster(text)["loopback_lat"] == "0s"


def test_names_may_hold_anything() -> None:
    ElementTree.fromstring(SimGrid().text(machine(title="--> <x> & --", name="y")))


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="needs a run or a machine"):
        SimGrid().text(None)
    with pytest.raises(InputError, match="has no curve of a ping-pong"):
        SimGrid().text(Machine(name="empty"))
    several = machine(models=(curve(*STEPS, mpi="a"), curve(*ODD, mpi="b")))
    with pytest.raises(InputError, match="name one with --mpi: a, b"):
        SimGrid().text(several)
    with pytest.raises(InputError, match="unknown library 'c'"):
        SimGrid(ExportOptions(mpi="c")).text(several)
    assert SimGrid(ExportOptions(mpi="a")).text(several) != SimGrid(ExportOptions(mpi="b")).text(
        several
    )
