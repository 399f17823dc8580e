"""`nhalf predict --engine simgrid`: measure on a machine that SimGrid simulates; multicasts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import option
from nhalf.cli.lazy import lazily
from nhalf.cli.options import ChangeOptions, RunOptions
from nhalf.cli.outcome import finish, measured
from nhalf.cli.sides import calibrated_machine, names_run, remark, run_and_library
from nhalf.measure.plan.plan import B_EFF, Block
from nhalf.measure.plan.request import WHAT, Patterns, PlanRequest
from nhalf.present.terminal.output import answered_by

with lazily(globals()):
    from nhalf.experiment.replay import replay
    from nhalf.facts.facts import Facts
    from nhalf.machines.change import change
    from nhalf.machines.machine import Machine
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import Prepared
    from nhalf.measure.plan import catalogue
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.planning import plan_of
    from nhalf.measure.simulate import session
    from nhalf.measure.simulate.session import check_placements, check_room, nodes_of, ranks_asked
    from nhalf.measure.simulate.subject import site_of

OVERRIDE = {"pattern", "ranks", "sizes", "axis", "algorithm", "placement"}
"""Options that override those of a study."""


@dataclass(frozen=True, kw_only=True)
class Request(Patterns, ChangeOptions, RunOptions, heading="On which machine"):
    """What to measure, on which machine."""

    machine: str = option("", "Machine of record (nhalf machines list), machine file or run.")
    mpi: str = option("", "Which library's ping-pong to use when the machine file has several.")
    collectives: str = option(
        "mpich", "Collective algorithm selection to simulate: mpich, ompi or mvapich2."
    )
    cost: tuple[str, ...] = option(
        (), "Cost of multicasts, e.g. nic_forward=2e-6 (seconds); repeatable."
    )
    replay: bool = option(False, "Simulate the ping-pongs of a run and compare both, size by size.")
    ranks: str = option(
        "2",
        "Numbers of ranks, e.g. 2,4,8 or 2:cores:x2; default for multicasts: all nodes.",
        heading=WHAT,
    )
    placement: str = option(
        "cores",
        "Placements, e.g. cores,same-node or other-node,4x2 (nodes x ranks) or 4x2+1.",
        heading=WHAT,
    )


def command(request: Request) -> None:
    """Measure a simulated machine; the run is an ordinary one, marked as simulated.

    nhalf predict --engine simgrid dense --machine altix-bx2 --ranks 512
    nhalf predict --engine simgrid bcast/binomial --machine sp2-mpl --ranks 32 --bytes 8,64K
    """
    if not request.machine:
        raise InputError("which machine?", "name one: --machine altix-bx2; see nhalf machines list")
    is_multicast = bool(request.study) and session.is_multicast(
        catalogue.study(request.study, 1).blocks
    )
    with answered_by("model" if is_multicast else "simgrid", is_named=not request.is_silent):
        if request.replay:
            _replay(request)
            return
        changed = change(calibrated_machine(request.machine), request.set_)
        prepare = _multicast if is_multicast else _messages
        finish(measured(prepare(changed, request), Progress(request.is_silent)), request)


def _replay(request: Request) -> None:
    """Print the ping-pongs of a run beside their simulation."""
    misplaced = sorted(request.given - {"study", "machine", "replay", "mpi", "json"})
    if request.study or misplaced:
        names = ", ".join([request.study, *misplaced] if request.study else misplaced)
        raise InputError(f"--replay does not go with {names}", "leave it out")
    if not names_run(request.machine):
        raise InputError(
            f"{request.machine} is no run", "--replay compares a run with its own simulation"
        )
    run, library = run_and_library(request.machine, request.mpi)
    facts = Facts.of([run])
    remark(facts)
    from nhalf.present.terminal.predictions import show_replays

    show_replays(replay(facts, library), as_json=request.json)


def _messages(machine: Machine, request: Request) -> Prepared:
    """A run of MPI messages on a simulated machine."""
    from nhalf.measure.simulate.subject import SELECTORS

    if request.cost:
        raise InputError("--cost is for multicasts", "see nhalf predict multicast --engine simgrid")
    if request.collectives not in SELECTORS:
        raise unknown("choice of collectives", request.collectives, SELECTORS)
    placements = request.placements
    simulation = session.Simulation(
        ranks=ranks_asked(request.ranks, placements),
        mpi=request.mpi,
        collectives=request.collectives,
    )
    site = site_of(machine, simulation.ranks, simulation.mpi)
    check_placements(machine, placements, site)
    options: dict[str, Any] = {name: getattr(request, name) for name in {"study", *OVERRIDE}}
    measuring_request = PlanRequest(
        **options, transport="simulated", mpi="simulated", given=request.given & OVERRIDE
    )
    blocks = list(plan_of(measuring_request, site).blocks)
    _check_no_b_eff(blocks, request)
    check_room(machine, blocks, site)
    return session.begin(machine, simulation, request.study, blocks, request.out)


def _check_no_b_eff(blocks: Sequence[Block], request: Request) -> None:
    """Raise InputError for b_eff, which a simulation with one value of each range misses."""
    if any("ring" in block.patterns and block.bytes.startswith(B_EFF) for block in blocks):
        raise InputError(
            "b_eff is not simulated: what messages share in a node and its network is known as "
            "ranges, and buffers outside all caches are not in the simulation",
            f"predict it, with its interval: nhalf predict beff --machine {request.machine} "
            f"--ranks {request.ranks}",
        )


def _multicast(machine: Machine, request: Request) -> Prepared:
    """A run of multicasts on a simulated machine."""
    for name in ("placement", "pattern", "mpi", "collectives", "algorithm"):
        if name in request.given:
            raise InputError(f"--{name} is not for multicasts", "leave it out")
    blocks = _multicast_blocks(machine, request)
    costs = pairs(request.cost, "--cost nic_forward=2e-6")
    return session.begin_multicasts(machine, request.study, blocks, request.out, costs)


def _multicast_blocks(machine: Machine, request: Request) -> list[Block]:
    """The blocks of a study, with the user's overrides."""
    import msgspec

    nodes = nodes_of(machine)
    axes = pairs(request.axis, "--axis group=1,2,4")
    blocks = []
    for block in catalogue.study(request.study, nodes).blocks:
        changes: dict[str, Any] = {"axes": {**block.axes, **axes}}
        if "ranks" in request.given:
            changes["ranks"] = parse_ranks(request.ranks, nodes)
        if "sizes" in request.given:
            changes["bytes"] = request.sizes
        blocks.append(msgspec.structs.replace(block, **changes))
    return blocks


def pairs(texts: Iterable[str], example: str) -> dict[str, str]:
    """Values by name; raises InputError for a text of another form, with an example."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"{text!r} is not written as name=value", f"write {example}")
        values[name.strip()] = value.strip()
    return values
