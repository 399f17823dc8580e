"""SimGrid: a platform of 3.32 (DTD 4.1) on which SMPI's ping-pong is the curve of a machine.

SMPI takes lat_factor(n) latency + n / (bw_factor(n) bandwidth) for the transfer of a message, both
of the whole path, and in addition os(n) + or(n) below the rendezvous threshold. So every piece
t0 + n/r of the curve is divided into os + or + latency = t0; above the threshold, where SMPI has
neither os nor or, all of t0 is latency. Factors are multiplied with the path: they are exact for
one distance only, that of two neighbours.

Measurements of 3.32 show that SMPI sends HEADER_BYTES more than the program does: they count for
the time and for the choice of a factor, but not for that of os and or. Each applies above its
bound.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.templates import render
from nhalf.base.units import format_rate, format_time
from nhalf.exchange.exporters import Exporter, ExportOptions, Subject, the_machine
from nhalf.exchange.platforms import (
    HEADER_BYTES,
    SHORTEST_S,
    Capacities,
    Cost,
    NetworkShape,
    bandwidth,
    capacities,
    costs_of,
    overheads_s,
    shape_of,
    what_holds,
    what_is_assumed,
)
from nhalf.machines.curve import is_between_nodes, threshold_bytes
from nhalf.machines.machine import FittedModel, Machine, Network, Node
from nhalf.machines.message import Messages
from nhalf.machines.pieces import fastest_Bps, pieces
from nhalf.machines.topology import Crossbar, SharedMemory

SPEED = "1Gf"
TEMPLATE = Path(__file__).parent.parent / "templates" / "simgrid.xml.j2"


class SimGrid(Exporter):
    """One platform, with everything that SMPI needs to know."""

    description = "a platform for SimGrid's SMPI with the ping-pong of a machine"
    takes = frozenset({"mpi", "ranks"})

    def text(self, subject: Subject) -> str:
        """The platform as XML; raises InputError if there is no ping-pong."""
        machine = the_machine(subject, "simgrid")
        return render(TEMPLATE, _platform(machine, self.options))


def _platform(machine: Machine, options: ExportOptions) -> dict[str, Any]:
    """The values of the template."""
    node, network = machine.node or Node(), machine.network
    model = Messages(_within(machine) if _is_alone(network) else machine, options.mpi).curve
    alone = _is_alone(network) and not is_between_nodes(model.placement)
    topology = Crossbar() if network is None or _is_alone(network) else network.topology
    shape = (
        NetworkShape(1, "", 1, False, "one node") if alone else shape_of(topology, node, options)
    )
    measured_Bps = node.memory_Bps if alone else _link_Bps(network)
    apart = shape.is_flat and not alone
    shared = capacities(machine, model)
    # Without a topology that shares links, their bandwidth is that of a single message.
    link_Bps = fastest_Bps(model) if apart else max(measured_Bps or 0.0, fastest_Bps(model))
    rendezvous_bytes, threshold = threshold_bytes(machine, model)
    curve_pieces = pieces(model, link_Bps, [rendezvous_bytes])
    hop_s = ((network and network.latency_s) or SHORTEST_S) if shape.varies else None
    costs = costs_of(
        curve_pieces, rendezvous_bytes, overheads_s(machine, model), (hop_s or 0) * shape.links
    )
    latency_s = max(costs[0].way_s / shape.links, SHORTEST_S)
    loopback = _loopback(machine, model, costs, link_Bps, alone=alone)
    path_s, cores = latency_s * shape.links, options.ranks or max(node.ranks, model.ranks)
    return {
        "title": _plain(machine.title or machine.name),
        "notes": [
            _plain(line)
            for line in [
                *what_holds(model, shape, costs, hop_s, alone=alone),
                *([] if alone else shared.words),
                *what_is_assumed(machine, model, link_Bps, measured_Bps, threshold, hop_s),
                *loopback.notes,
            ]
        ],
        "alone": alone,
        "hostfile": "" if node.ranks == 1 or alone else "-hostfile HOSTS ",
        "ranks": options.ranks or (cores if alone else shape.nodes * node.ranks),
        "nodes": shape.nodes,
        "cores": cores if alone else node.ranks,
        "speed": SPEED,
        "header_bytes": HEADER_BYTES,
        "sharing": "SPLITDUPLEX" if network is None or network.duplex else "SHARED",
        "shape": shape.attributes,
        "link_Bps": _number(link_Bps),
        "latency_s": _number(latency_s),
        "loopback_Bps": _number(loopback.rate_Bps),
        "loopback_s": _number(loopback.latency_s),
        "rendezvous_bytes": rendezvous_bytes,
        "latency_factors": _steps(costs, lambda cost: cost.way_s / path_s),
        "bandwidth_factors": _steps(costs, lambda cost: 1 / (cost.piece.per_byte_s * link_Bps)),
        "send": _overhead_steps(costs, lambda cost: cost.send_s),
        "receive": _overhead_steps(costs, lambda cost: cost.receive_s),
        **_bandwidths(shared, measured_Bps, costs, link_Bps, apart=apart),
    }


def _bandwidths(
    shared: Capacities,
    measured_Bps: float | None,
    costs: Sequence[Cost],
    link_Bps: float,
    *,
    apart: bool,
) -> dict[str, str]:
    """The bandwidths of shared resources; "" for absent ones."""

    def of(capacity_Bps: float) -> str:
        return (
            _number(bandwidth(capacity_Bps, costs, link_Bps)) if math.isfinite(capacity_Bps) else ""
        )

    node_Bps = min(measured_Bps or 1 / costs[-1].piece.per_byte_s, shared.one_way_Bps)
    return {
        "way_Bps": of(node_Bps) if apart else _number(link_Bps),
        "limiter_Bps": of(shared.both_ways_Bps),
        "medium_Bps": of(shared.medium_Bps) if apart else "",
        "message_Bps": _number(link_Bps) if apart else "",
        "memory_Bps": of(shared.within_Bps),
    }


def _is_alone(network: Network | None) -> bool:
    return network is None or isinstance(network.topology, SharedMemory)


def _within(machine: Machine) -> Machine:
    """The machine without curves between nodes, if its network has a single node."""
    if machine.network is None:
        return machine
    models = tuple(model for model in machine.models if not is_between_nodes(model.placement))
    return msgspec.structs.replace(machine, models=models)


def _link_Bps(network: Network | None) -> float | None:
    """The bandwidth of a link for one message: an adapter in front of it may be slower."""
    rates_Bps = (network.bandwidth_Bps, network.adapter_Bps) if network is not None else ()
    return min((rate for rate in rates_Bps if rate), default=None)


@dataclass(frozen=True)
class Loopback:
    """The loopback link of a node; the factors of messages between nodes apply to it."""

    rate_Bps: float
    latency_s: float
    notes: tuple[str, ...] = ()


def _loopback(
    machine: Machine, model: FittedModel, costs: Sequence[Cost], link_Bps: float, *, alone: bool
) -> Loopback:
    last_Bps = 1 / costs[-1].piece.per_byte_s
    within_node = [
        other_model
        for other_model in machine.models
        if other_model.pattern == model.pattern
        and other_model.mpi == model.mpi
        and other_model.segments
        if not is_between_nodes(other_model.placement) and other_model is not model
    ]
    if alone:
        return Loopback(link_Bps, costs[0].way_s)
    if not within_node:
        words = "Messages within a node cost what those between neighbours do: they are unknown."
        return Loopback(link_Bps, costs[0].way_s, (words,))
    first, last = within_node[0].segments[0], within_node[0].segments[-1]
    rate_Bps = last.r_inf_Bps if math.isfinite(last.r_inf_Bps) else link_Bps
    busy_s = costs[0].send_s + costs[0].receive_s
    header_s = HEADER_BYTES / rate_Bps * last_Bps * costs[0].piece.per_byte_s
    latency_s = max(0.0, first.t0_s - busy_s - header_s)
    smallest = format_time(busy_s + header_s + latency_s)
    lines = (
        f"Within a node {smallest} (of {format_time(first.t0_s)}) and {format_rate(rate_Bps)} "
        "hold for the smallest",
        "and the largest messages only: os, or and factors are those of messages between nodes.",
    )
    return Loopback(rate_Bps * link_Bps / last_Bps, latency_s, lines)


def _steps(costs: Sequence[Cost], value: Callable[[Cost], float]) -> str:
    """'0:1;1039:0.5': a factor above a size with its header; equal neighbours are merged."""
    return ";".join(f"{size}:{text}" for size, text in _changes(costs, value, HEADER_BYTES))


def _overhead_steps(costs: Sequence[Cost], value: Callable[[Cost], float]) -> str:
    """'0:1e-06:0;1023:0:0': seconds, and none per byte, above a size."""
    return ";".join(f"{size}:{text}:0" for size, text in _changes(costs, value, 0))


def _changes(
    costs: Sequence[Cost], value: Callable[[Cost], float], header_bytes: int
) -> Iterator[tuple[int, str]]:
    """The bounds above which a value holds: the first size of a piece is the first above it."""
    before = ""
    for cost in costs:
        text = _number(value(cost))
        if text != before:
            first = cost.piece.from_bytes
            yield first - 1 + header_bytes if first else 0, text
        before = text


def _number(value: float) -> str:
    return f"{max(0.0, value):.10g}"


def _plain(text: str) -> str:
    """A line that is valid in a comment of XML."""
    return " ".join(text.split()).replace("--", "- -").rstrip("-")
