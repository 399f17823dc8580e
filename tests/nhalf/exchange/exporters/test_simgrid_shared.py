"""What messages share on a platform for SimGrid: SMPI, the closed model and the formula agree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import numpy as np
import pytest

from nhalf.exchange.exporters.simgrid import SimGrid
from nhalf.machines.draws import Draws
from nhalf.machines.machine import FittedModel, Machine, Network, Node, Protocol, Segment
from nhalf.machines.message import Messages
from nhalf.machines.shared import Shared
from nhalf.machines.together import ConcurrentMessages
from nhalf.machines.topology import Crossbar, FatTree
from tests.patience import patience_s

RATE_Bps = 1e8
SIZE_BYTES = 1 << 22
LINK = 2.5
"""How many messages fill a link."""


def machine(*shared: Shared, ranks: int = 1, tree: bool = False) -> Machine:
    """Eight nodes; a message takes 1 us before its first byte, and small ones move half as much."""
    curves = tuple(
        FittedModel(
            transport="mpi",
            pattern="pingpong",
            ranks=2,
            placement=placement,
            segments=(
                Segment(from_bytes=0, to_bytes=4095, t0_s=1e-6, r_inf_Bps=RATE_Bps / 2),
                Segment(from_bytes=4096, to_bytes=1 << 22, t0_s=2e-6, r_inf_Bps=RATE_Bps),
            ),
        )
        for placement in ("same-node", "other-node")
    )
    topology = FatTree((4, 2), (1, 4), (1, 1)) if tree else Crossbar(8)
    return Machine(
        name="eight",
        node=Node(ranks=ranks),
        network=Network(topology=topology, bandwidth_Bps=LINK * RATE_Bps),
        protocol=Protocol(rendezvous_bytes=1 << 16),
        models=curves,
        shared=shared,
    )


def share(what: str, **rates: float) -> Shared:
    return msgspec.convert({"what": what, "why": "by hand", **rates}, Shared)


EXCHANGE = [(0, 1), (1, 0)]
ADAPTER = share("adapter", both_ways_Bps=1.5 * RATE_Bps)
BUS = share("bus", both_ways_Bps=3 * RATE_Bps)
CASES = {
    "both ways, nothing shared": (machine(), EXCHANGE, 1),
    "both ways, one rank": (machine(share("rank", both_ways_ratio=1.25)), EXCHANGE, 2 / 1.25),
    "both ways, one adapter": (machine(ADAPTER), EXCHANGE, 2 / 1.5),
    "both ways, a tree": (machine(ADAPTER, tree=True), [(0, 5), (5, 0)], 2 / 1.5),
    "one to many": (machine(), [(0, 1), (0, 2), (0, 3)], 3),
    "one to many, one adapter": (machine(ADAPTER), [(0, 1), (0, 2), (0, 3)], 3),
    "many pairs, a link": (machine(ranks=4), [(i, i + 4) for i in range(4)], 4 / LINK),
    "many pairs, an adapter": (
        machine(share("adapter", one_way_Bps=2 * RATE_Bps), ranks=4),
        [(i, i + 4) for i in range(4)],
        4 / 2,
    ),
    "many pairs, both ways over a bus": (
        machine(BUS, ranks=4),
        [(i, i + 4) for i in range(4)] + [(i + 4, i) for i in range(4)],
        8 / 3,
    ),
    "many pairs, one wire": (
        machine(share("medium", both_ways_Bps=RATE_Bps)),
        [(0, 1), (2, 3), (4, 5)],
        3,
    ),
}
"""By name: a machine, its messages, and what they take over the time of the bytes of one."""


def simulated_s(of: Machine, pairs: list[tuple[int, int]], program: Path, folder: Path) -> float:
    """The time of the last message, as SMPI has it."""
    platform, hosts = folder / "platform.xml", folder / "hosts"
    platform.write_text(SimGrid().text(of))
    ranks = of.node.ranks if of.node else 1
    needed = 1 + max(max(pair) for pair in pairs)
    hosts.write_text("".join(f"node-{rank // ranks}\n" for rank in range(needed)))
    words = [str(rank) for pair in pairs for rank in pair]
    command = ["smpirun", "-np", str(needed), "-platform", str(platform), "-hostfile", str(hosts)]
    command += [str(program), str(SIZE_BYTES), *words, "--log=root.thres:warning"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=patience_s(120)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return float(done.stdout.split()[-1])


@pytest.mark.parametrize("name", list(CASES))
def test_messages_together(name: str, together: Path, tmp_path: Path) -> None:
    of, pairs, times = CASES[name]
    wanted_s = times * SIZE_BYTES / RATE_Bps
    assert simulated_s(of, pairs, together, tmp_path) == pytest.approx(wanted_s, rel=0.005)
    closed = ConcurrentMessages(Messages(of), Draws(1), of.node.ranks if of.node else 1)
    # The closed model draws what messages lose that wait behind others in a switch: not here.
    closed.blocked_share = np.ones(1)
    found = closed.time_s(pairs, np.array([[float(SIZE_BYTES)]]))
    assert found[0, 0] == pytest.approx(wanted_s, rel=0.005)


def test_what_is_shared_is_said() -> None:
    text = SimGrid().text(machine(ADAPTER))
    assert "A node sends and receives 150 MB/s together" in text
    assert "All nodes share one wire of 100 MB/s." in SimGrid().text(
        CASES["many pairs, one wire"][0]
    )
