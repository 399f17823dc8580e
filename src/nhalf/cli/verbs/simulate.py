# SPDX-License-Identifier: Apache-2.0
"""`nhalf simulate`: measure a machine that is not here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nhalf.base.errors import InputError, unknown

if TYPE_CHECKING:
    from nhalf.machines.machine import Machine
    from nhalf.measure.loop.session import Prepared
    from nhalf.measure.plan.plan import Block
    from nhalf.sites.site import Site

B_EFF_LENGTHS = "b_eff:4M"
"""The longest of a process with 512 MiB, as machines of the record had."""
PLACEMENT = typer.Option(
    help="cores, same-node, other-node or 4x2 (nodes x ranks); several by commas."
)
COST = typer.Option(help="A cost of multicasts: nic_forward=2e-6 (seconds); repeatable.")
REPLAY = "Simulate the ping-pongs of a run and compare them with it, size by size."
ALGORITHM = typer.Option(help="Algorithms of collective operations: native,binomial or all.")
COLLECTIVES = typer.Option(help="Whose collective algorithms: mpich, ompi, mvapich2.")


def command(
    context: typer.Context,
    study: Annotated[
        str, typer.Argument(help="A study by name (nhalf run --list), or a TOML file of your own.")
    ] = "",
    machine: Annotated[
        str,
        typer.Option(help="A machine of record (nhalf machines list), a file or a run."),
    ] = "",
    pattern: Annotated[
        str, typer.Option(help="Patterns, separated by commas; of a study only these.")
    ] = "pingpong",
    ranks: Annotated[
        str, typer.Option(help="Numbers of ranks: 2,4,8 or 2:cores:x2; of multicasts all nodes.")
    ] = "2",
    sizes: Annotated[
        str, typer.Option("--bytes", help="Message sizes: a range 0:4M or a list 0,8,4K.")
    ] = "0:4M",
    axis: Annotated[
        list[str] | None, typer.Option(help="Values of an axis: algorithm=u-torus; repeatable.")
    ] = None,
    algorithm: Annotated[str, ALGORITHM] = "",
    placement: Annotated[str, PLACEMENT] = "cores",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="What if: network.bandwidth=2x and the like; repeatable."),
    ] = None,
    mpi: Annotated[
        str, typer.Option(help="Of a machine file with several libraries, whose ping-pong.")
    ] = "",
    collectives: Annotated[str, COLLECTIVES] = "mpich",
    cost: Annotated[list[str] | None, COST] = None,
    replay: Annotated[bool, typer.Option("--replay", help=REPLAY)] = False,
    out: Annotated[Path | None, typer.Option(help="Run directory to make.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Write the HTML report, too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither bar nor summary.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure on a simulated machine; the run is one like any other, marked as simulated."""
    from nhalf.cli.verbs.run import finish, given, measured
    from nhalf.machines.change import change
    from nhalf.measure.loop.progress import Progress

    if not machine:
        raise InputError("which machine?", "name one: --machine altix-bx2; see nhalf machines list")
    options = {**context.params, "given": given(context)}
    if replay:
        _replay(machine, study, options)
        return
    changed = change(machine_of(machine), set_ or [])
    prepare = _multicast if _is_multicast(study) else _messages
    outcome = measured(prepare(study, changed, options), Progress(quiet or json))
    finish(outcome, json=json, quiet=quiet, report=report, style="")


def machine_of(text: str) -> Machine:
    """A machine by name or file, or that which a run measured."""
    from nhalf.decide.calibrate import calibrated
    from nhalf.facts.facts import Facts
    from nhalf.machines import catalogue
    from nhalf.store.run import DESCRIPTION, Run

    is_run = Path(text, DESCRIPTION).is_file()
    return calibrated(Facts.of([Run.open(Path(text))])) if is_run else catalogue.machine(text)


def _replay(path: str, study: str, options: dict[str, Any]) -> None:
    """The ping-pongs of a run beside their simulation."""
    from nhalf.decide.replay import replay
    from nhalf.facts.facts import Facts
    from nhalf.present.terminal.replay import show
    from nhalf.store.run import DESCRIPTION, Run

    others = sorted(options["given"] - {"machine", "replay", "mpi", "json"})
    if study or others:
        names = ", ".join([study, *others] if study else others)
        raise InputError(f"--replay does not go with {names}", "leave it out")
    if not Path(path, DESCRIPTION).is_file():
        raise InputError(f"{path} is no run", "--replay compares a run with its own simulation")
    show(replay(Facts.of([Run.open(Path(path))]), options["mpi"]), as_json=options["json"])


def _is_multicast(study: str) -> bool:
    """Whether a study is one of multicasts, which a program of their own simulates."""
    from nhalf.measure.plan import catalogue
    from nhalf.measure.simulate import multicast_session

    return bool(study) and multicast_session.is_multicast(catalogue.study(study, 1).blocks)


def _messages(study: str, machine: Machine, options: dict[str, Any]) -> Prepared:
    """A run of messages of MPI on a machine."""
    from nhalf.cli.planning import words
    from nhalf.measure.simulate import session
    from nhalf.measure.simulate.room import check_placements, check_room, ranks_asked
    from nhalf.measure.simulate.subject import SELECTORS, site_of

    if options["cost"]:
        raise InputError("--cost is for multicasts", "see nhalf simulate multicast")
    if options["collectives"] not in SELECTORS:
        raise unknown("choice of collectives", options["collectives"], SELECTORS)
    placements = words(options["placement"])
    how = session.Simulation(
        ranks=ranks_asked(options["ranks"], placements),
        mpi=options["mpi"],
        collectives=options["collectives"],
    )
    site = site_of(machine, how.ranks, how.mpi)
    check_placements(machine, placements, site)
    blocks = _placed_blocks(study, options, site)
    check_room(machine, blocks, site)
    return session.begin(machine, how, study, blocks, options["out"])


def _placed_blocks(study: str, options: dict[str, Any], site: Site) -> list[Block]:
    """The blocks of a study or of the options, in the way of `nhalf run` on as many hosts."""
    import msgspec

    from nhalf.cli.planning import plan_of
    from nhalf.measure.plan.sizes import B_EFF

    absent: dict[str, Any] = {
        **dict.fromkeys(("style", "budget", "model", "hosts", "launcher"), ""),
        **{"transport": "simulated", "launches": 1, "precision": 0.01, "seed": 1},
        **{"timeout": "600s", "mpi_prefix": None, "host_file": None},
    }
    named = options["given"] & {"pattern", "ranks", "sizes", "axis", "algorithm", "placement"}
    known = {**options, **absent, "mpi": "simulated"}
    blocks = plan_of(study, known, named, site).blocks
    # The memory of a process, of which the longest length is a share, is not that of this machine.
    return [
        msgspec.structs.replace(block, bytes=B_EFF_LENGTHS) if block.bytes == B_EFF else block
        for block in blocks
    ]


def _multicast(study: str, machine: Machine, options: dict[str, Any]) -> Prepared:
    """A run of multicasts."""
    from nhalf.cli.pairs import pairs
    from nhalf.measure.simulate import multicast_session

    for name in ("placement", "pattern", "mpi", "collectives", "algorithm"):
        if name in options["given"]:
            raise InputError(f"--{name} is not for multicasts", "leave it out")
    blocks = _multicast_blocks(study, machine, options)
    costs = pairs(options["cost"] or [], "--cost nic_forward=2e-6")
    return multicast_session.begin(machine, study, blocks, options["out"], costs)


def _multicast_blocks(study: str, machine: Machine, options: dict[str, Any]) -> list[Block]:
    """The blocks of a study, with what the user wants otherwise."""
    import msgspec

    from nhalf.cli.pairs import pairs
    from nhalf.measure.plan import catalogue
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.simulate.multicast_session import nodes_of

    nodes = nodes_of(machine)
    axes = pairs(options["axis"] or [], "--axis group=1,2,4")
    found = []
    for block in catalogue.study(study, nodes).blocks:
        changes: dict[str, Any] = {"axes": {**block.axes, **axes}}
        if "ranks" in options["given"]:
            changes["ranks"] = parse_ranks(options["ranks"], nodes)
        if "sizes" in options["given"]:
            changes["bytes"] = options["sizes"]
        found.append(msgspec.structs.replace(block, **changes))
    return found
