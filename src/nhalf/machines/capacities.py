"""What messages share on a machine, for the virtual network (native/network/routes.hpp).

These are the capacities of simulated machines: links of the network, a wire that all nodes have in
common, and what ranks of a node share. A message alone is as fast as its curve: nothing is narrower
than the fastest messages. A range counts as the geometric mean of its ends.
"""

from collections.abc import Sequence

from nhalf.base.errors import InputError
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.node_shares import Share, medium_Bps, shares
from nhalf.machines.pieces import fastest_Bps
from nhalf.machines.topology import (
    Crossbar,
    Direct,
    FatTree,
    SharedMemory,
    Topology,
    Torus,
    elementary,
)

LARGEST = 2**62
"""Half of what 64 bits with a sign hold: bytes per second, picoseconds, attoseconds per byte."""


def capacity_lines(messages: Messages, ranks_per_node: int) -> list[str]:
    """The lines of a machine's capacities; none if its messages share nothing."""
    machine = messages.machine
    within_Bps = fastest_Bps(messages.within_node)
    between_Bps = max(fastest_Bps(curve) for _, curve in messages.between_nodes)
    lines = [*_network(machine, between_Bps), *_memory(machine, within_Bps)]
    if wire_Bps := medium_Bps(machine, between_Bps):
        lines.append(f"medium {whole(wire_Bps)}")
    of_nodes = shares(machine, within_Bps, between_Bps)
    return lines + [_share(share) for share in _limiting(of_nodes, ranks_per_node)]


def _network(machine: Machine, between_Bps: float) -> list[str]:
    """The lines of the links between nodes, as fast as a message where no rate was published."""
    network = machine.network
    if network is None or isinstance(network.topology, SharedMemory):
        return []
    link_Bps = max(network.bandwidth_Bps or 0.0, between_Bps)
    return [f"link {whole(link_Bps)} {int(network.duplex)}", f"topology {wiring(network.topology)}"]


def _memory(machine: Machine, within_Bps: float) -> list[str]:
    if machine.node is None or machine.node.memory_Bps is None:
        return []
    return [f"memory {whole(max(machine.node.memory_Bps, within_Bps))}"]


def _limiting(of_nodes: Sequence[Share], ranks_per_node: int) -> list[Share]:
    """The shares that limit more than a rank does, which sends one message after the other."""
    return [
        share
        for share in of_nodes
        if share.both_ways_Bps or (ranks_per_node > 1 and share.ranks != 1)
    ]


def _share(share: Share) -> str:
    one_way_Bps = 0.0 if share.ranks == 1 else share.one_way_Bps
    rates = f"{whole(one_way_Bps)} {whole(share.both_ways_Bps)}"
    return f"share {share.ranks} {int(share.away)} {rates}"


def wiring(topology: Topology) -> str:
    """A topology in the syntax of native/network/topology.hpp."""
    match elementary(topology):
        case FatTree(down, up, cables, route=route):
            words = [f"tree {route}", len(down), *down, *up, *cables]
        case Torus(dimensions):
            words = ["torus", len(dimensions), *dimensions]
        case Direct(nodes):
            words = ["direct", nodes]
        case Crossbar() | SharedMemory():
            words = ["star", topology.nodes]
    return " ".join(map(str, words))


def whole(value: float) -> int:
    """The value as native parts read it; raises InputError if it is too large for them."""
    if not abs(value) < LARGEST:
        raise InputError(
            f"{value:.3g} is more than virtual time can hold", "choose values nearer to real ones"
        )
    return round(value)
