"""The description of a machine for the simulator: its wiring, and its curves in pieces.

The text is read by native/simulator/machine.hpp, which explains each line. Every time t0 + n/r of a
ping-pong is divided into the overheads of the two processors (o_s, o_r: they are busy), a latency
and n/r. So a message without contention takes the time of the curve, at any size and distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.curve import OVERHEAD_SHARE, is_between_nodes, software_costs
from nhalf.machines.exchanges import exchange_of
from nhalf.machines.machine import FittedModel, Machine, Network, Node
from nhalf.machines.message import Messages
from nhalf.machines.node_shares import (
    WIDE,
    Share,
    alone_Bps,
    hosts_per_node,
    medium_Bps,
    narrower,
    shares,
)
from nhalf.machines.pieces import fastest_Bps, pieces
from nhalf.machines.spread import within_node
from nhalf.machines.topology import (
    Crossbar,
    Direct,
    FatTree,
    Hypercube,
    SharedMemory,
    Topology,
    Torus,
    elementary,
)
from nhalf.machines.wires import (
    ATTO,
    OVERHEADS_SHARE_MAX,
    curve_lines,
    eager_bytes_of,
    spacing_lines,
)

NODES_MAX = 1 << 20


@dataclass(frozen=True)
class Description:
    """A machine as the simulator knows it.

    `text` is the simulator's input but for spacings, `nodes` the number of nodes and
    `ranks_per_node` the ranks of each (0: as many as requested), distinguished by `hosts_per_node`
    hosts; `assumed` lists in sentences what was unknown.
    """

    text: str
    nodes: int
    ranks_per_node: int
    hosts_per_node: int
    assumed: tuple[str, ...]
    messages: Messages | None = None

    def text_for(self, nodes: Sequence[str]) -> str:
        """The simulator's input for ranks on these nodes, with how far messages are apart at one of
        them, and what an exchange takes.

        As below a library, spacings are known where the machine's first curve is from, and ranks of
        one node move what they do within it.
        """
        if self.messages is None:
            return self.text
        alone = within_node(self.messages) if len(set(nodes)) == 1 else self.messages
        if alone.machine != self.messages.machine:
            return describe(alone, self.nodes).text_for(nodes)
        ranks = len(nodes)
        lines = ["alone"] if ranks == len(set(nodes)) else []
        within, between = self.messages.within_node, self.messages.between_nodes[0][1]
        for where, curve in (("within", within), ("between", between)):
            if is_between_nodes(curve.placement) == is_between_nodes(self.messages.curve.placement):
                lines += [f"{where} {line}" for line in spacing_lines(self.messages, ranks)]
            if exchange := exchange_of(self.messages, curve):
                lines += [f"{where} {line}" for line in curve_lines("both", exchange)]
        return self.text + "".join(f"{line}\n" for line in lines)


def describe(messages: Messages, nodes: int = 0) -> Description:
    """Describe the machine of messages, with this many `nodes` if its own number is not fixed.

    Raises InputError without a ping-pong, if not one of several libraries is named, or with more
    nodes than NODES_MAX.
    """
    machine, within, between = messages.machine, messages.within_node, messages.between_nodes
    network = _network(machine)
    topology = network.topology
    if isinstance(topology, Crossbar) and not topology.nodes:
        topology = Crossbar(max(2, nodes))
    assumed = list(machine.assumptions)
    assumed += _operations_by_messages(machine)
    node = machine.node or Node(ranks=0)
    fastest = [fastest_Bps(within), max(fastest_Bps(model) for _, model in between)]
    wire_Bps = medium_Bps(machine, fastest[1])
    place = int(is_between_nodes(messages.curve.placement))
    fastest[place] = max(fastest[place], _closest_Bps(messages))
    if node.memory_Bps is None and not machine.shared:
        assumed.append(
            "What the memory of a node moves in all is unknown: it moves what its ranks do, each "
            "as much as in a ping-pong."
        )
    memory_Bps = max(node.memory_Bps or WIDE, fastest[0])
    if network.bandwidth_Bps is None and not isinstance(network.topology, SharedMemory):
        assumed.append("A link is as fast as the fastest ping-pong: its own rate is unknown.")
    link_Bps = max(network.bandwidth_Bps or 0.0, fastest[1])
    shared = narrower(shares(machine, *fastest), link_Bps, hosts_per_node(machine))
    if wire_Bps and not shared:
        # The wire is passed on the way out of a node, which needs a way in.
        shared = [Share(0, away=True, one_way_Bps=WIDE)]
    ways_Bps = (
        min(memory_Bps, alone_Bps(shared, away=False)),
        min(link_Bps, alone_Bps(shared, away=True), wire_Bps or WIDE),
    )
    links_to_nearest = 1 if isinstance(topology, Direct | Torus | Hypercube) else 2
    lines = [
        "topology " + _wiring(topology),
        f"link bandwidth_Bps={link_Bps!r} latency_s={network.latency_s or 0.0!r} "
        f"nearest={links_to_nearest} duplex={int(network.duplex)} medium_Bps={wire_Bps!r}",
        f"node count={topology.nodes} ranks={hosts_per_node(machine)} bandwidth_Bps={memory_Bps!r}"
        f" eager_bytes={eager_bytes_of(messages)}",
        *(share.line for share in shared),
        *_curve(machine, 0, within, ways_Bps[0], assumed),
    ]
    for apart, model in between:
        lines += _curve(machine, apart, model, ways_Bps[1], assumed)
    if topology.nodes > NODES_MAX:
        raise InputError(
            f"{machine.name} has {topology.nodes} nodes, and {NODES_MAX} can be simulated at most",
            "take a smaller one: --set network.topology=...",
        )
    text = "".join(f"{line}\n" for line in lines)
    unique = tuple(dict.fromkeys(assumed))
    return Description(text, topology.nodes, node.ranks, hosts_per_node(machine), unique, messages)


def _closest_Bps(messages: Messages) -> float:
    """The rate at which messages of one rank were seen to leave it; 0 if that is not known."""
    per_byte = [int(line.split()[3]) for line in spacing_lines(messages, 2) if "out" in line]
    return max((ATTO / apart for apart in per_byte if apart > 0), default=0.0)


def _operations_by_messages(machine: Machine) -> list[str]:
    """Say in a sentence which operations are simulated otherwise than the machine performs them."""
    patterns = [own.pattern for own in machine.operations if own.level_s is not None]
    if not patterns:
        return []
    where = f"{', '.join(patterns)} of {machine.name} are performed in its memory"
    return [f"Messages stand for them, while {where}: nhalf predict has those times."]


def _network(machine: Machine) -> Network:
    """Return the network of a machine; a single node if it was measured without one."""
    if machine.network is not None:
        return machine.network
    several = any(is_between_nodes(model.placement) for model in machine.models)
    return Network(topology=Crossbar() if several else SharedMemory())


def _wiring(topology: Topology) -> str:
    """Return a topology in the simulator's syntax."""
    match elementary(topology):
        case SharedMemory() | Crossbar():
            return "kind=star"
        case Direct():
            return "kind=direct"
        case Torus(dimensions):
            return f"kind=torus dimensions={_listed(dimensions)}"
        case FatTree(down, up, cables, route=route):
            listed = f"down={_listed(down)} up={_listed(up)} cables={_listed(cables)}"
            return f"kind=fat-tree route={route} {listed}"


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _curve(
    machine: Machine, apart: int, model: FittedModel, link_Bps: float, assumed: list[str]
) -> list[str]:
    """Return the lines of one curve."""
    if overhead_s(machine, model) is None:
        assumed.append(
            f"Of the latency each processor is taken to be busy for {OVERHEAD_SHARE:.0%}: o_s and "
            "o_r are unknown."
        )
    send_s, recv_s, gap_s = software_costs(machine, model)
    lines = [f"curve apart={apart} gap_s={gap_s!r}"]
    # As below a library, something is left for the network.
    most_s = min(send_s + recv_s, OVERHEADS_SHARE_MAX * model.shortest_s)
    for part in pieces(model, max(link_Bps, fastest_Bps(model)), busy_s=most_s):
        busy_s = min(part.t0_s + part.busy_s, most_s)
        mine_s = busy_s and busy_s * send_s / (send_s + recv_s)
        lines.append(
            f"segment from_bytes={part.from_bytes} latency_s={part.t0_s + part.busy_s - busy_s!r} "
            f"rate_Bps={1 / part.per_byte_s!r} send_s={mine_s!r} recv_s={busy_s - mine_s!r}"
        )
    return lines
