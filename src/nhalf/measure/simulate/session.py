"""A run on a simulated machine that can hold its ranks, of multicasts too, stored like others."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import read, write
from nhalf.measure.loop.session import Prepared, default_folder, programs
from nhalf.measure.plan.plan import Block, Plan, read_plan
from nhalf.measure.plan.resolve import check_blocks, check_memory, resolve
from nhalf.measure.simulate.multicast import PATTERN, costs, multicast_subject
from nhalf.measure.simulate.subject import (
    SELECTORS,
    SimulatedMachine,
    SmpiMachine,
    application_subject,
    site_of,
    smpi_subject,
)
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
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
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
    words = ranks.replace(":", ",").split(",")
    return [int(word) for word in words if word.strip().isdecimal()]


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
                (site.layout(placement.text, ranks).per_host for ranks in fitting_ranks),
                default=0,
            )
            if crowd > site.cores_per_host:
                raise InputError(
                    f"a node of {machine.name} holds {_count(site.cores_per_host, 'rank')}, and "
                    f"{placement.text} puts {crowd} there",
                    f"ask for fewer, or {CHANGE}",
                )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
