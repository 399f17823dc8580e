"""A run on a simulated machine that can hold its ranks, of multicasts too, stored like others.

The program of multicasts (native/multicast/multicast.cpp) speaks the protocol of the probes. It
models hosts, adapters, buses and links in more detail than a machine file; `costs` lists what is
assumed.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.native_files import describe
from nhalf.base.units import number_in
from nhalf.machines.curve import OVERHEAD_SHARE, software_costs
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import read, write
from nhalf.machines.message import Messages
from nhalf.machines.topology import Crossbar, Direct, Hypercube, Multistage, Torus, in_words
from nhalf.measure.loop.session import Prepared, default_folder, programs
from nhalf.measure.plan.plan import Block, Plan, read_plan
from nhalf.measure.plan.resolve import check_blocks, check_memory, resolve
from nhalf.measure.simulate.subject import (
    SELECTORS,
    TRANSPORT,
    SimulatedMachine,
    SmpiMachine,
    application_subject,
    site_of,
    smpi_subject,
)
from nhalf.mpi.probe import local_executable
from nhalf.mpi.transport_files import TransportFile
from nhalf.sites.environment import simulated_environment
from nhalf.sites.placement import Placement
from nhalf.sites.site import Site
from nhalf.store.run import MACHINE, Run

TIMEOUT_S = 600.0
"""How long one point may take: an exchange among a thousand ranks is a million messages."""


class Simulation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a machine is simulated; stored in the run, so that it can be resumed.

    `ranks` is the number that the machine must hold if its number of nodes is not fixed, `mpi`
    names the library whose ping-pong is used, `collectives` the library whose choice of algorithms
    is simulated; `costs` are those of multicasts, as text. If `app` names an application, its
    program computes `computing_factor` times as long as here.
    """

    multicast: bool = False
    ranks: int = 2
    mpi: str = ""
    collectives: str = SELECTORS[0]
    costs: dict[str, str] = {}
    app: str = ""
    computing_factor: float = 0.0


def begin(
    machine: Machine,
    how: Simulation,
    study: str,
    blocks: list[Block],
    out: Path | None,
    launches: int = 1,
) -> Prepared:
    """Check the request and make the run directory.

    The simulator is exact, so one launch of each point is enough, unless computing is timed.
    Raises InputError for an impossible request, MissingError without the simulator.
    """
    subject = subject_of(machine, how)
    plan = Plan(
        transports=[subject.transport],
        mpi=[subject.mpi],
        blocks=[msgspec.structs.replace(block, launches=launches) for block in blocks],
        launches=launches,
        budget_s=0.0,
        precision=0.01,
        options="",
        seed=1,
        timeout_s=TIMEOUT_S,
        study=study,
    )
    check_blocks(plan)
    plan = resolve(plan, [subject])
    for block in plan.blocks:
        for name in block.patterns:
            check_memory(subject.infos[name], block, hosts=1)  # all ranks are one process here
    facts = {"simulated machine": subject.title, **_facts(machine, how, subject)}
    if how.app:
        facts |= programs(plan)
    description = {
        "environment": {**simulated_environment(subject.title), **facts},
        "plan": msgspec.to_builtins(plan),
        "titles": {subject.key: subject.title},
        "simulation": msgspec.to_builtins(how),
    }
    run = Run.create(out or default_folder(), description)
    write(machine, run.path / MACHINE)
    return Prepared(run, plan, [subject], {})


def resume(run: Run) -> Prepared:
    """Reopen a run, on the machine stored in it.

    Raises InputError if run or machine file are damaged, MissingError without the simulator.
    """
    try:
        plan = read_plan(run.plan)
        how = msgspec.convert(run.simulation, Simulation)
    except msgspec.ValidationError as error:
        raise InputError(f"{run.path} has a plan that this nhalf does not know: {error}") from error
    return Prepared(run, plan, [subject_of(read(run.path / MACHINE), how)], {})


def subject_of(machine: Machine, how: Simulation) -> SimulatedMachine:
    """Return the subject of a simulation. Raises MissingError without the simulator."""
    if how.app:
        site = site_of(machine, how.ranks)
        return application_subject(machine, site, how.app, how.computing_factor, how.collectives)
    if how.multicast:
        return multicast_subject(machine, how.costs)
    return smpi_subject(machine, site_of(machine, how.ranks, how.mpi), how.collectives, how.mpi)


def _facts(machine: Machine, how: Simulation, subject: SimulatedMachine) -> dict[str, str]:
    """Return what a report states about the simulation besides the environment."""
    if isinstance(subject, SmpiMachine):
        assumed = [line.rstrip(".") for line in subject.machine_description.assumed]
        chosen = f"as {how.collectives} chooses them"
        scaled = (
            {"computation": f"measured here, times {how.computing_factor:g}"} if how.app else {}
        )
        return {"collectives": chosen, **scaled, "assumed": "; ".join(assumed)}
    multicast_costs = costs(machine, how.costs)
    return {"costs": multicast_costs.text, "assumed": "; ".join(multicast_costs.assumed)}


def nodes_of(machine: Machine) -> int:
    """Return the number of nodes of a multicast; raises InputError if it cannot be simulated."""
    costs(machine)
    assert machine.network is not None
    return machine.network.topology.nodes


def is_multicast(blocks: list[Block]) -> bool:
    """Whether only multicasts are requested."""
    return all(block.patterns == [PATTERN] for block in blocks)


def begin_multicasts(
    machine: Machine,
    study: str,
    blocks: list[Block],
    out: Path | None,
    given_costs: Mapping[str, str] | None = None,
) -> Prepared:
    """Check the request against the machine and make the run directory.

    `given_costs` are texts. The simulator is exact, so there is one launch and one sample of each
    point. Raises InputError for more ranks than nodes and for invalid costs, MissingError without
    the simulator.
    """
    nodes = nodes_of(machine)
    for block in blocks:
        if max(block.ranks, default=0) > nodes:
            raise InputError(
                f"{machine.name} has {nodes} nodes, one for each rank of a multicast",
                f"give --ranks {nodes} or less",
            )
    how = Simulation(multicast=True, costs=dict(given_costs or {}))
    return begin(machine, how, study, blocks, out)


CHANGE = "change the machine: --set network.topology=... or --set node.ranks=..."


def ranks_asked(ranks: str, placements: Iterable[Placement]) -> int:
    """Return the largest number of ranks written as a number, in a list or layout; default 2."""
    layouts = [placement.layout for placement in placements if placement.layout]
    return max([*numbers_of(ranks), *(layout.ranks for layout in layouts)], default=2)


def numbers_of(ranks: str) -> list[int]:
    """Return the numbers of ranks that are written as such, alone, in a list, or as an end."""
    return [int(word) for word in ranks.replace(":", ",").split(",") if word.strip().isdecimal()]


def check_placements(machine: Machine, placements: Sequence[Placement], site: Site) -> None:
    """Raises InputError for placements that are unknown or need more nodes than available."""
    for placement in placements:
        needed = placement.check().hosts
        if needed > len(site.hosts):
            nodes = _count(len(site.hosts), "node")
            raise InputError(
                f"{machine.name} has {nodes}, and {placement.text} needs {needed}",
                f"choose another --placement, or {CHANGE}",
            )


def check_room(machine: Machine, blocks: Sequence[Block], site: Site) -> None:
    """Raises InputError if a machine, or one of its nodes, cannot hold the ranks."""
    for block in blocks:
        most = max(block.ranks, default=0)
        if most > site.cores:
            nodes = _count(len(site.hosts), "node")
            raise InputError(
                f"{machine.name} has {nodes} of {_count(site.cores_per_host, 'rank')}, not {most}",
                f"ask for fewer, or {CHANGE}",
            )
        for placement in block.parsed_placements:
            fitting_ranks = filter(placement.fits, block.ranks)
            crowd = max(
                (site.layout(placement.text, ranks).per_host for ranks in fitting_ranks), default=0
            )
            if crowd > site.cores_per_host:
                raise InputError(
                    f"a node of {machine.name} holds {_count(site.cores_per_host, 'rank')}, and "
                    f"{placement.text} puts {crowd} there",
                    f"ask for fewer, or {CHANGE}",
                )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


PATTERN = "multicast"
PROGRAM = TransportFile(PATTERN, source="multicast/multicast.cpp")
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
    command = [str(local_executable(PROGRAM)), "--options", options]
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
    value = number_in(text)
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
