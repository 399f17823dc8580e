"""A machine file as a SimGrid platform: its shape, capacities, costs and names.

SimGrid multiplies bandwidths with the factor of each message, so that a capacity is shared by
messages of the last piece.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError
from nhalf.base.units import format_rate, format_time
from nhalf.exchange.exporters import ExportOptions
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.curve import OVERHEAD_SHARE, software_costs
from nhalf.machines.machine import FittedModel, Machine, Node
from nhalf.machines.message import Messages
from nhalf.machines.node_shares import Share, medium_Bps, shares
from nhalf.machines.pieces import LinearPiece, fastest_Bps
from nhalf.machines.topology import Crossbar, FatTree, Topology, Torus, elementary, in_words

HEADER_BYTES = 16
"""The time that SMPI 3.32 adds to every message."""


@dataclass(frozen=True)
class Cost:
    """A piece with its t0 divided between both processors and the transfer, in seconds."""

    piece: LinearPiece
    send_s: float
    receive_s: float
    way_s: float


def overheads_s(machine: Machine, model: FittedModel) -> tuple[float, float]:
    """Overheads o_s and o_r, in seconds: measured ones, or the assumed share."""
    return software_costs(machine, model)[:2]


def costs_of(
    pieces: Sequence[LinearPiece],
    rendezvous_bytes: int,
    overheads: tuple[float, float],
    links_s: float,
) -> list[Cost]:
    """Every piece with its t0 divided, less the time of the header.

    If distances differ (`links_s` is not 0) only the latency of links is latency: any other part
    would be multiplied with the distance.
    """
    both_s = sum(overheads)
    share = overheads[0] / both_s if both_s > 0 else 0.5
    costs = []
    for piece in pieces:
        remaining_s = max(0.0, piece.t0_s - HEADER_BYTES * piece.per_byte_s)
        busy_s = max(0.0, remaining_s - links_s) if links_s > 0 else min(remaining_s, both_s)
        if piece.from_bytes >= rendezvous_bytes:
            busy_s = 0.0
        costs.append(Cost(piece, share * busy_s, (1 - share) * busy_s, remaining_s - busy_s))
    return costs


NODES = 16
"""Default number of nodes of a crossbar without a fixed number."""


@dataclass(frozen=True)
class NetworkShape:
    """The connection of the nodes in SimGrid's terms, and the links between neighbours."""

    nodes: int
    attributes: str
    links: int
    varies: bool
    words: str

    @property
    def is_flat(self) -> bool:
        """Whether every node has a link to one switch, and nothing else."""
        return not self.attributes


def shape_of(topology: Topology, node: Node, options: ExportOptions) -> NetworkShape:
    """The attributes of a cluster; raises InputError if it is too small for the ranks."""
    needed = -(-(options.ranks or 0) // node.ranks)
    if isinstance(topology, Crossbar) and not topology.nodes:
        topology = Crossbar(max(2, needed or NODES))
    if needed > topology.nodes:
        remedy = f"there are {topology.nodes}: ask for fewer, or --set network.topology=..."
        raise InputError(f"{options.ranks} ranks need {needed} nodes of {node.ranks}", remedy)
    words, topology = in_words(topology), elementary(topology)
    match topology:
        case FatTree(down, up, cables):
            levels = ";".join(",".join(map(str, level)) for level in (down, up, cables))
            attributes = f'topology="FAT_TREE" topo_parameters="{len(down)};{levels}"'
            links, varies = 2, len(down) > 1
        case Torus(dimensions):
            sizes = [size for size in dimensions if size > 1] or [1]
            attributes = f'topology="TORUS" topo_parameters="{",".join(map(str, sizes))}"'
            links, varies = 1, topology.nodes > 3
        case _:
            return NetworkShape(topology.nodes, "", 2, False, words)
    return NetworkShape(topology.nodes, f"\n             {attributes}", links, varies, words)


@dataclass(frozen=True)
class Capacities:
    """Capacities in bytes per second, infinite if no bound is known.

    They are those of a node in one direction and in both together, of its internal messages, and
    of a wire shared by all nodes.
    """

    one_way_Bps: float
    both_ways_Bps: float
    within_Bps: float
    medium_Bps: float

    @property
    def words(self) -> list[str]:
        """The shared capacities in comments of the platform."""
        lines = []
        if math.isfinite(self.both_ways_Bps):
            lines.append(
                f"A node sends and receives {format_rate(self.both_ways_Bps)} together, whatever "
                "its ranks, adapter, bus or memory"
            )
            lines.append("bound, of messages of the last factor; shorter ones share less.")
        if math.isfinite(self.medium_Bps):
            lines.append(f"All nodes share one wire of {format_rate(self.medium_Bps)}.")
        return lines


def capacities(machine: Machine, model: FittedModel) -> Capacities:
    """The capacities of a machine whose messages have this curve."""
    within = fastest_Bps(Messages(machine, carrier(model.mpi, model.transport)).within_node)
    node_shares = shares(machine, within, fastest_Bps(model))
    ranks = machine.node.ranks if machine.node else 1
    wire_Bps = medium_Bps(machine, fastest_Bps(model))
    memory_Bps = machine.node.memory_Bps if machine.node else None
    stays = [share for share in node_shares if not share.away]
    return Capacities(
        _least(node_shares, ranks, "one_way_Bps"),
        _least(node_shares, ranks, "both_ways_Bps"),
        min(
            _least(stays, ranks, "one_way_Bps"),
            _least(stays, ranks, "both_ways_Bps") / 2,
            memory_Bps or math.inf,
        ),
        wire_Bps or math.inf,
    )


def _least(node_shares: Sequence[Share], ranks: int, name: str) -> float:
    """The least capacity of a node; shares of some of its ranks are scaled to all of them."""
    rates = [getattr(share, name) * ranks / (share.ranks or ranks) for share in node_shares]
    return min((rate for rate in rates if rate), default=math.inf)


def bandwidth(capacity_Bps: float, costs: Sequence[Cost], fastest: float) -> float:
    """The bandwidth of a link with this capacity for messages of the last piece.

    It is at least `fastest`, the bandwidth that the factors are multiplied with.
    """
    return max(fastest, capacity_Bps * costs[-1].piece.per_byte_s * fastest)


SHORTEST_S = 2e-9
"""Least latency of a link: factors need a positive number; SimGrid's resolution is 1 ns."""


def what_holds(
    model: FittedModel,
    shape: NetworkShape,
    costs: Sequence[Cost],
    hop_s: float | None,
    *,
    alone: bool,
) -> list[str]:
    """Comments on the messages that are exact, and on the treatment of others."""
    place = "within the node" if alone else "between neighbouring nodes"
    lines = [
        f"Shape: {shape.words}. Calibrated with the {model.pattern} of "
        f"{carrier(model.mpi, model.transport)}, {model.placement or 'same-node'}:",
        f"its times are exact {place}, of one message at a time.",
    ]
    if alone or not shape.varies:
        return lines
    if any(cost.send_s + cost.receive_s > 0 for cost in costs):
        lines += [
            f"Messages that pass more links are later by {format_time(hop_s or 0.0)} a link below "
            "the threshold (which is why",
            "os and or hold all but that). Above it SMPI has neither: there their latency grows in "
            "proportion to the links.",
        ]
    else:
        lines.append("The latency of messages grows in proportion to the links that they pass.")
    return lines


def what_is_assumed(
    machine: Machine,
    model: FittedModel,
    link_Bps: float,
    measured_Bps: float | None,
    threshold: str,
    hop_s: float | None,
) -> list[str]:
    """Unmeasured quantities, and the values assumed instead."""
    lines = [*machine.assumptions, threshold]
    if overhead_s(machine, model) is None:
        share = "" if hop_s else f" of {OVERHEAD_SHARE:.0%} of the first t0"
        lines.append(f"Overheads are unknown: equal ones{share} on both sides are assumed.")
    if hop_s == SHORTEST_S:
        lines.append("The latency of a link is unknown: next to nothing is assumed.")
    if measured_Bps is None:
        lines.append(
            f"The rate of a link is unknown: {format_rate(link_Bps)}, the most of one message."
        )
    elif measured_Bps < link_Bps:
        lines.append(
            f"A message is faster than the {format_rate(measured_Bps)} of a link: links have "
            f"{format_rate(link_Bps)}."
        )
    return lines
