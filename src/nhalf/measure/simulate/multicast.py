"""Multicasts on a simulated machine: the program that runs them, and the costs of its parts.

The program (native/multicast/multicast.cpp) speaks the protocol of the probes. It models hosts,
adapters, buses and links in more detail than a machine file; `costs` lists what is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from nhalf.base.describe import describe
from nhalf.base.errors import InputError, unknown
from nhalf.base.native_files import executable
from nhalf.machines.curve import OVERHEAD_SHARE, software_costs
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.topology import Crossbar, Direct, Hypercube, Multistage, Torus, in_words
from nhalf.measure.simulate.subject import TRANSPORT, SimulatedMachine

PATTERN = "multicast"
LINK_LATENCY_S = 1e-7
"""Latency of one link if it was not published: that of a switch or a node's bypass then."""
COSTS = (
    *("o_s", "o_r", "nic_send", "nic_receive", "nic_forward", "link_latency"),
    *("link_bandwidth", "bus_bandwidth"),
)
"""Costs that users may set, as options of the program: seconds, bytes per second."""


@dataclass(frozen=True)
class MulticastCosts:
    """The options of the program for a machine, and a line for each unpublished cost."""

    options: dict[str, str]
    assumed: tuple[str, ...]

    @property
    def text(self) -> str:
        """The options as the program reads them."""
        return ",".join(f"{name}={value}" for name, value in self.options.items())


def multicast_subject(
    machine: Machine, given_costs: Mapping[str, str] | None = None
) -> SimulatedMachine:
    """Return the subject that simulates multicasts; `given_costs` are texts."""
    options = costs(machine, given_costs).text
    command = [str(executable(PATTERN)), "--options", options]
    return SimulatedMachine(
        TRANSPORT,
        tuple(command),
        describe(command),
        machine=machine.name,
        machine_title=machine.title,
    )


def costs(machine: Machine, given_costs: Mapping[str, str] | None = None) -> MulticastCosts:
    """Derive the costs of multicasts from a machine's ping-pong between neighbours.

    A message takes t0 of the first segment and has the rate of the last, where t0 = o_s + nic_send
    + links * link_latency + nic_receive + o_r, and the time per byte is that of a link and, twice,
    of the bus. Raises InputError for machines without such a network or a ping-pong, and for
    unknown names in `given_costs`.
    """
    options, links = _network(machine)
    assumed: list[str] = []
    messages = Messages(machine)
    curve, loggp = messages.curve, messages.loggp
    t0_s, rate_Bps = curve.segments[0].t0_s, curve.segments[-1].r_inf_Bps

    overheads = dict(zip(("o_s", "o_r"), software_costs(machine, curve), strict=False))
    published_s = (loggp.send_overhead_s, loggp.recv_overhead_s) if loggp else (None, None)
    for name, value in zip(overheads, published_s, strict=True):
        if value is None:
            assumed.append(f"{name} is {OVERHEAD_SHARE:g} of the latency")
    left_s = max(0.0, t0_s - sum(overheads.values()))
    latency_s = machine.network.latency_s if machine.network else None
    if latency_s is None:
        latency_s = LINK_LATENCY_S
        assumed.append(f"a link takes {LINK_LATENCY_S * 1e6:g} us")
    latency_s = min(latency_s, left_s / links)
    adapter_s = (left_s - links * latency_s) / 2
    assumed.append("adapters take what is left of the latency, to send and to receive alike")
    assumed.append("a copy that an adapter forwards takes it as long as one that its host posted")
    options |= {name: f"{value:.12g}" for name, value in overheads.items()}
    options |= dict.fromkeys(("nic_send", "nic_receive", "nic_forward"), f"{adapter_s:.12g}")
    options["link_latency"] = f"{latency_s:.12g}"
    options |= _rates(machine, rate_Bps, assumed)
    for name, text in (given_costs or {}).items():
        _check_given(name, text, on_rings="dimensions" in options)
        options[name] = text
    return MulticastCosts(options, tuple(assumed))


def _check_given(name: str, text: str, *, on_rings: bool) -> None:
    """Raises InputError for a cost that the machine lacks, or that is not a number."""
    if name == "rings" and on_rings:
        if text not in ("both-ways", "one-way"):
            raise InputError(f"rings={text} is no kind of rings", "give both-ways or one-way")
        return
    if name not in COSTS:
        raise unknown("cost of a multicast", name, COSTS)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (0 <= value < math.inf) or (value == 0 and name == "link_bandwidth"):
        raise InputError(f"{name}={text} is no cost", "give a number such as 2e-6")


def _network(machine: Machine) -> tuple[dict[str, str], int]:
    """Return the wiring as options of the program, and the number of links between neighbours."""
    topology = machine.network.topology if machine.network else None
    match topology:
        case Torus(dimensions):
            return {"dimensions": "x".join(map(str, dimensions))}, 1
        case Hypercube(dimension):
            return {"dimensions": "x".join(["2"] * dimension)}, 1
        case Crossbar(nodes) | Direct(nodes) | Multistage(nodes=nodes) if nodes > 1:
            return {"switch": str(nodes)}, 2
    wiring = in_words(topology) if topology else "unknown"
    raise InputError(
        f"multicasts are simulated on a torus or around a switch; the network of {machine.name} "
        f"is {wiring}",
        "take sci-torus or myrinet-gm, or change it with --set network.topology=...",
    )


def _rates(machine: Machine, rate_Bps: float, assumed: list[str]) -> dict[str, str]:
    """Return the bandwidth of links, and of the bus if messages are slower than links."""
    network = machine.network
    link_Bps = network.bandwidth_Bps if network else None
    if link_Bps is None:
        link_Bps = rate_Bps
        assumed.append("a link is as fast as the ping-pong")
    if not math.isfinite(link_Bps):
        raise InputError(
            f"{machine.name} says nothing of the rate of messages or links",
            "take another machine, or give it a bandwidth with --set network.bandwidth=1GBps",
        )
    options = {"link_bandwidth": f"{link_Bps:.12g}"}
    if rate_Bps < link_Bps:
        bus_Bps = 2 / (1 / rate_Bps - 1 / link_Bps)
        options["bus_bandwidth"] = f"{bus_Bps:.12g}"
        assumed.append("what messages are slower than links is the bus, passed twice")
    return options
