"""A machine file as the network that native parts read (native/network/wires.hpp).

Half the round trip of n bytes is the machine's curve T(n). The processors of sender and receiver
are busy for o_s and o_r of it: those of the machine's LogGP parameters where it has some, else a
quarter of T(0) each. The rest passes on the way, where messages share what they pass
(native/network/routes.hpp): links of the network, a wire that all nodes have in common, and what
ranks of a node share. A message alone is as fast as its curve: nothing is narrower than the fastest
messages. A range counts as the geometric mean of its ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nhalf.base.errors import InputError
from nhalf.machines.curve import SoftwareCosts, is_between_nodes, software_costs
from nhalf.machines.exchanges import exchange_of
from nhalf.machines.layout import Layout, parse_layout
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Messages
from nhalf.machines.node_shares import Share, medium_Bps, shares
from nhalf.machines.parts import parts_of
from nhalf.machines.pieces import fastest_Bps
from nhalf.machines.spread import within_node
from nhalf.machines.topology import (
    Crossbar,
    Direct,
    FatTree,
    SharedMemory,
    Topology,
    Torus,
    elementary,
)

PER_S = 10**12
"""Picoseconds."""
ATTO = 10**18
SPACINGS = {"out": "M", "in": "R"}
_LIST = re.compile(r"\d{1,9}(,\d{1,9})+")
SEEDS = 2**63
LAUNCHES_MAX = 1000
"""Launches whose seeds differ from those of the next seed."""
MPI = "mpi"
EAGER_BYTES = 16384
UNLIMITED = 2**63
"""Sends of nhalf's own transports do not wait until long messages have left."""
OVERHEADS_SHARE_MAX = 0.9
"""Both overheads of a published machine may exceed the time of its shortest message."""


@dataclass(frozen=True)
class Noise:
    """What is added to times: exponentially distributed, this share of a time in the mean."""

    share: float = 0.0
    seed: int = 1

    def of_launch(self, launch: int) -> Noise:
        """Another noise for every launch, the same for a launch that is repeated."""
        return replace(self, seed=(self.seed * LAUNCHES_MAX + launch) % SEEDS)


NO_NOISE = Noise()


def ranks_per_node(machine: Machine) -> int:
    """How many ranks a node holds; one where the machine file does not say."""
    return (machine.node.ranks if machine.node else 1) or 1


def nodes_of(machine: Machine, ranks: int, placement: str) -> list[int]:
    """The node of every rank: as a layout such as 4x2 or a list such as 0,1,1,0 says, else node
    after node is filled.

    Raises InputError for a placement that is none, or more ranks than the machine or a node holds.
    """
    nodes = _placed(ranks, placement, ranks_per_node(machine))
    check_nodes(machine, nodes)
    return nodes


def check_nodes(machine: Machine, nodes: Sequence[int]) -> None:
    """Raises InputError if ranks on these nodes are more than the machine or a node holds."""
    ranks, per_node = len(nodes), ranks_per_node(machine)
    # A file without a network says nothing of how many nodes there are.
    most = machine.ranks_max if machine.network else None
    if most is not None and ranks > most:
        raise InputError(f"{machine.name} holds {most} ranks, not {ranks}", "ask for fewer")
    crowd = max(Counter(nodes).values())
    if machine.node is not None and crowd > per_node:
        message = f"ranks per node of {machine.name}: at most {per_node}, not {crowd}"
        raise InputError(message, "choose another --placement")
    # A crossbar may have as many as are asked for, one for each rank.
    hosts_max = (machine.network.topology.nodes if machine.network else 0) or ranks
    if max(nodes) >= hosts_max:
        remedy = "choose another --placement"
        raise InputError(f"{machine.name} has {hosts_max} nodes, not {max(nodes) + 1}", remedy)


def _placed(ranks: int, placement: str, per_node: int) -> list[int]:
    """The node of every rank, as asked for."""
    if _LIST.fullmatch(placement):
        nodes = [int(number) for number in placement.split(",")]
        _check_ranks(placement, len(nodes), ranks)
        return nodes
    layout = parse_layout(placement) if placement else None
    if placement and layout is None:
        remedy = "write nodes x ranks: --placement 4x2 or 4x2+1; or the node of each rank: 0,1,1,0"
        raise InputError(f"{placement!r} is not a placement", remedy)
    if layout is None:
        layout = Layout(-(-ranks // per_node), min(per_node, ranks))
    else:
        _check_ranks(placement, layout.ranks, ranks)
    return [layout.host_of(rank) for rank in range(ranks)]


def _check_ranks(placement: str, placed: int, ranks: int) -> None:
    if placed != ranks:
        message = f"--placement {placement} holds {placed} ranks, but --ranks is {ranks}"
        raise InputError(message, "give matching numbers")


def description(
    messages: Messages, nodes: Sequence[int], computing_factor: float = 0.0, noise: Noise = NO_NOISE
) -> str:
    """The machine as ranks read it, with the factor of their processors' time. Raises InputError
    for times and rates that are too large for virtual time.

    How far messages are apart at one rank is known where the machine's first curve is from: between
    nodes, or within one.
    """
    if len(set(nodes)) == 1:
        # Nothing passes between nodes, so a rank moves what it does within one.
        messages = within_node(messages)
    lines = [
        f"nodes {' '.join(map(str, nodes))}",
        f"computing {round(1000 * computing_factor)}",
        f"noise {round(1_000_000 * noise.share)} {noise.seed}",
    ]
    spacings = spacing_lines(messages, len(nodes))
    for distance, curve in [(0, messages.within_node), *messages.between_nodes]:
        lines += _wire(distance, curve, software_costs(messages.machine, curve))
        if is_between_nodes(curve.placement) == is_between_nodes(messages.curve.placement):
            lines += spacings
        if exchange := exchange_of(messages, curve):
            lines += curve_lines("both", exchange)
    lines.append(f"eager {eager_bytes_of(messages)}")
    lines += capacity_lines(messages, max(Counter(nodes).values()))
    return "\n".join(lines) + "\n"


def eager_bytes_of(messages: Messages) -> int:
    """Sends of more end when their bytes have left."""
    return EAGER_BYTES if messages.curve.transport == MPI else UNLIMITED


def _wire(distance: int, curve: FittedModel, costs: SoftwareCosts) -> list[str]:
    """The lines of a curve for nodes that are so far apart, 0 within a node."""
    most_s = OVERHEADS_SHARE_MAX * curve.shortest_s
    both_s = costs.send_s + costs.receive_s
    share = 1.0 if both_s <= most_s else most_s / both_s
    # An operation that takes no time has bypassed the network.
    busy = (max(1, whole(PER_S * share * cost_s)) for cost_s in costs[:2])
    numbers = " ".join(map(str, (distance, *busy, whole(PER_S * costs.gap_s))))
    return [f"wire {numbers}", *curve_lines("part", curve)]


def curve_lines(name: str, curve: FittedModel) -> list[str]:
    """The lines of a curve, one for each of its segments."""
    return [_line(name, int(start), *seconds) for start, *seconds in curve.pieces]


def spacing_lines(messages: Messages, ranks: int) -> list[str]:
    """The lines of how far messages are apart that one rank sends to all others, or receives.

    It follows from the parts M and R (parts.py): fans that were measured or published, or a
    measured gap.
    """
    parts = parts_of(messages)
    partners = min(max(1, ranks - 1), parts.partners_max or ranks)
    low = np.array(parts.bends_bytes)
    high = np.append(low[1:], max(2 * low[-1], 2.0**20))
    # The upper end of a piece belongs to the next one.
    inside = low + 0.5 * (high - low)

    def lines(name: str, part: str) -> Iterator[str]:
        time_s = parts.functions[part]
        at_low, at_inside = (time_s(size, partners) / partners for size in (low, inside))
        per_byte_s = (at_inside - at_low) / (inside - low)
        for first, start, per_byte in zip(low, at_low - per_byte_s * low, per_byte_s, strict=True):
            yield _line(name, round(float(first)), float(start), float(per_byte))

    return [
        line for name, part in SPACINGS.items() if part in parts.fans for line in lines(name, part)
    ]


def _line(
    name: str, from_bytes: int, start_s: float, per_byte_s: float, per_root_byte_s: float = 0.0
) -> str:
    """The line of a part of a curve: whole picoseconds, and attoseconds per byte."""
    rates = (whole(ATTO * rate_s) for rate_s in (per_byte_s, per_root_byte_s))
    return " ".join(map(str, (name, from_bytes, whole(PER_S * start_s), *rates)))


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
    # A rank alone sends one message after the other, and is limited by its curve.
    has_several = ranks_per_node > 1
    limiting = (s for s in of_nodes if s.both_ways_Bps or (has_several and s.ranks != 1))
    return lines + [_share(share) for share in limiting]


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
