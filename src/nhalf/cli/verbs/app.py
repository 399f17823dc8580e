"""`nhalf app`: run an application."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import FailedError, InputError
from nhalf.base.request import option
from nhalf.cli.job import allocate
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, ChangeOptions, RunOptions
from nhalf.cli.outcome import measured, say_failed
from nhalf.cli.sides import announce
from nhalf.measure.apps import AppRequest
from nhalf.measure.plan.request import WHAT
from nhalf.present.report import write_report
from nhalf.present.terminal.output import emit_json
from nhalf.present.terminal.tables import show_table

with lazily(globals()):
    from nhalf.cli.sides import calibrated_machine
    from nhalf.facts.applications import applications
    from nhalf.facts.facts import Facts
    from nhalf.facts.program.npb import traffic_rows
    from nhalf.machines.change import change
    from nhalf.measure.apps import app_of, apps
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import Prepared
    from nhalf.measure.simulate import session as simulation
    from nhalf.measure.simulate.session import check_placements, check_room, ranks_asked
    from nhalf.present.terminal.applications import show_applications, show_traffic
    from nhalf.store.run import Run

GROUP = "measure"
MACHINE = "On which machine"


@dataclass(frozen=True, kw_only=True)
class Request(AppRequest, ChangeOptions, RunOptions, heading=OUTPUT):
    """What to run, and what to print."""

    machine: str = option(
        "", "Simulate on this machine: name, machine file or run.", heading=MACHINE
    )
    computing_factor: float = option(
        1.0, "Scale the compute time measured here by this factor.", heading=MACHINE
    )

    list_: bool = option(False, "List the applications, and exit.", heading=WHAT)


def command(request: Request) -> None:
    """Run applications, such as the NAS Parallel Benchmarks, in several programming models.

    For example `nhalf app npb --kernel cg,ft --class S --ranks 1,2`, and with threads beside
    processes `nhalf app npb --class A --program mpi,openmp --ranks 1,2,4 --report`.

    nhalf app npb --class S --ranks 1,2
    """
    if request.list_:
        rows = [(name, app.title) for name, app in apps().items()]
        if request.json:
            emit_json({"applications": [{"name": name, "title": title} for name, title in rows]})
        else:
            show_table(("application", "what it is"), rows)
        return
    outcome = measured(_prepare(request), Progress(request.is_silent, announces=not request.quiet))
    _print_outcome(outcome, request)


def _prepare(request: Request) -> Prepared:
    """A resumed run or a new one. Raises InputError for impossible requests."""
    from nhalf.measure.loop import session
    from nhalf.measure.plan.planning import site_of

    allocate(request)
    if request.resume is not None and (run := Run.open(request.resume)).simulation:
        return simulation.resume(run)
    if request.resume is not None:
        return session.resume(
            request.resume, request.hosts, request.host_file_path, request.launcher
        )
    if not request.name:
        raise InputError("no application is named", "name one of nhalf app --list")
    if request.machine:
        return _simulated(request)
    site = site_of(request)
    return session.begin(app_of(request.name).plan(request, site), request.out, site)


def _simulated(request: Request) -> Prepared:
    """A run of the message-passing program on a simulated machine."""
    from nhalf.measure.simulate import session
    from nhalf.measure.simulate.subject import site_of

    for name in ("barrier", "table", "hosts", "host_file", "mpi"):
        if name in request.given:
            raise InputError(f"--{name} is not for simulated machines", "leave it out")
    if request.program != "mpi":
        raise InputError("only message passing is simulated", "leave --program out")
    if request.computing_factor <= 0:
        raise InputError(
            f"computing takes {request.computing_factor} times as long", "give more than 0"
        )
    machine = change(calibrated_machine(request.machine), request.set_)
    placements = request.placements
    simulation = session.Simulation(
        ranks=ranks_asked(request.ranks, placements),
        app=request.name,
        computing_factor=request.computing_factor,
    )
    site = site_of(machine, simulation.ranks)
    check_placements(machine, placements, site)
    blocks = app_of(request.name).plan(request, site).blocks
    check_room(machine, blocks, site)
    return session.begin(machine, simulation, "", blocks, request.out, request.launches)


def _print_outcome(outcome: RunOutcome, request: Request) -> None:
    """Print the outcome and write the requested report; raises FailedError for wrong results."""
    facts = Facts.of([outcome.run])
    rows = applications(facts)
    traffic = traffic_rows(rows)
    if request.report:
        write_report(facts, outcome.run.path / "report.html")
    announce(facts, request)
    say_failed(outcome)
    if request.json:
        members = {"rows": rows, "traffic": traffic, "notes": outcome.notes}
        emit_json({"run": str(outcome.run.path), **members})
    elif not request.quiet:
        show_applications(rows)
        show_traffic(traffic)
        for line in [*outcome.notes, f"run     {outcome.run.path}"]:
            sys.stdout.write(f"{line}\n")
    check_verified(rows)


def check_verified(rows: list[dict[str, Any]]) -> None:
    """Raises FailedError with both numbers if a kernel's result is not the official one."""
    wrong = [row for row in rows if not row["verified"]]
    if wrong:
        first = wrong[0]
        raise FailedError(
            f"{len(wrong)} of {len(rows)} results did not verify, first {first['kernel']} of class "
            f"{first['class']} in {first['mpi'] or first['program']} on {first['ranks']} ranks: "
            f"computed {first['computed']!r}, official {first['official']!r}",
            "do not trust what this library or compiler computes",
        )
