# SPDX-License-Identifier: Apache-2.0
"""`nhalf run`: measure."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nhalf.base.errors import FailedError, InputError, Interrupted, Terminated

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.ending import Outcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import Prepared
    from nhalf.store.run import Run

LAUNCHES = 5
GOES_WITH_RESUME = {"resume", "report", "quiet", "json", "style", "hosts", "host_file", "launcher"}
GOES_WITH_RESUME |= {"submit", "job", "no_wait"}
PLACEMENT = typer.Option(
    help="cores, free, same-cache, same-node, other-node or 4x2 (hosts x ranks); several by commas."
)
HOSTS = typer.Option(help="Hosts to measure on: n1,n2 or n[1-4] or n1:8 (cores).")
HOST_FILE = typer.Option(help="A file of hosts, a line each.")
LAUNCHER = typer.Option(help="mpirun, hydra, srun or one that was added; else each library's own.")
DRY_RUN = typer.Option("--dry-run", help="Print the commands that would start ranks, and end.")
SETTING = typer.Option(help='Each library under variables, too: "NAME: VAR=value"; repeatable.')
SUBMIT = typer.Option("--submit", help="As a job of the batch system: submit, follow, collect.")
JOB = typer.Option(help="What else the job asks for: '--nodes=4 --time=10:00 --partition=x'.")
NO_WAIT = typer.Option("--no-wait", help="Submit and leave.")
ALGORITHM = typer.Option(help="Algorithms of collective operations: native,binomial or all.")
STYLE = typer.Option(help="Print tables as imb or osu do; --pattern may name their tests.")


def command(
    context: typer.Context,
    study: Annotated[
        str, typer.Argument(help="A study by name (see --list), or a TOML file of your own.")
    ] = "",
    pattern: Annotated[
        str, typer.Option(help="Patterns, separated by commas, or all; of a study only these.")
    ] = "pingpong",
    transport: Annotated[
        str, typer.Option(help="Transports: mpi, threads, model; separated by commas.")
    ] = "mpi",
    mpi: Annotated[str, typer.Option(help="MPI libraries by name, or all that are here.")] = "all",
    ranks: Annotated[str, typer.Option(help="Numbers of ranks: 2,4,8 or 2:cores:x2.")] = "2",
    sizes: Annotated[
        str,
        typer.Option(
            "--bytes", help="Message sizes: a range 0:4M, a list 0,8,4K or a grid 0:2000:1."
        ),
    ] = "0:4M",
    axis: Annotated[
        list[str] | None,
        typer.Option(
            help="Values of a further axis: pairs=1,2,4 or pairs=1:ranks/2:x2; repeatable."
        ),
    ] = None,
    algorithm: Annotated[str, ALGORITHM] = "",
    setting: Annotated[list[str] | None, SETTING] = None,
    launches: Annotated[int, typer.Option(min=1, help="How often each library is started.")] = (
        LAUNCHES
    ),
    budget: Annotated[
        str, typer.Option(help="Time for the whole run, such as 60s; shared by all points.")
    ] = "",
    precision: Annotated[
        float, typer.Option(help="Relative half-width of the interval that is good enough.")
    ] = 0.01,
    placement: Annotated[str, PLACEMENT] = "cores",
    hosts: Annotated[str, HOSTS] = "",
    host_file: Annotated[Path | None, HOST_FILE] = None,
    launcher: Annotated[str, LAUNCHER] = "",
    model: Annotated[
        str, typer.Option(help="Parameters of the model transport: o_s=1e-6,L=5e-6,...")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of the random orders.")] = 1,
    timeout: Annotated[str, typer.Option(help="How long a silent library is waited for.")] = "60s",
    mpi_prefix: Annotated[
        list[Path] | None, typer.Option(help="Folder of a further MPI library; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run directory to make.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with this run.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the studies.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Write the HTML report, too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither bar nor summary.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    style: Annotated[str, STYLE] = "",
    submit: Annotated[bool, SUBMIT] = False,
    job: Annotated[str, JOB] = "",
    no_wait: Annotated[bool, NO_WAIT] = False,
    dry_run: Annotated[bool, DRY_RUN] = False,
) -> None:
    """Measure; every finished point is kept, and an interrupted run can be resumed."""
    if list_:
        _list(as_json=json)
        return
    if dry_run:
        _rehearse(context, study, as_json=json)
    elif outcome := _outcome(context, study):
        finish(outcome, json=json, quiet=quiet, report=report, style=style)


def _rehearse(context: typer.Context, study: str, *, as_json: bool) -> None:
    """Tell what would be started, where no job and no former run is asked for."""
    from nhalf.cli.planning import plan_of, site_of
    from nhalf.measure.loop.rehearsal import rehearse
    from nhalf.present.terminal.output import emit_json

    options = context.params
    for name in ("submit", "resume"):
        if options[name]:
            raise InputError(f"--dry-run does not go with --{name}", "leave one of them out")
    site = site_of(options)
    commands, failed = rehearse(plan_of(study, options, given(context), site), site)
    for name, reason in failed.items():
        sys.stderr.write(f"nhalf: not started: {name}: {reason}\n")
    if as_json:
        emit_json({"commands": commands})
    else:
        sys.stdout.write("".join(f"{one.line}\n" for one in commands))


def _outcome(context: typer.Context, study: str) -> Outcome | None:
    """What is measured here, or in a job; None where that is not waited for."""
    from nhalf.jobs import submit
    from nhalf.measure.loop.progress import Progress

    options = context.params
    submit.check_together(options)
    if options["resume"] is not None:
        _check_only_resume(context)
    if options["submit"]:
        return submit.submitted(context, study, given(context))
    return measured(_prepare(context, study), Progress(options["quiet"] or options["json"]))


def _prepare(context: typer.Context, study: str) -> Prepared:
    """A run that goes on, or a plan of these options with a directory of its own."""
    from nhalf.cli.allocate import allocate
    from nhalf.cli.planning import host_file, plan_of, site_of
    from nhalf.measure.loop import session
    from nhalf.store.run import Run

    options = context.params
    if options["resume"] is not None and (run := Run.open(options["resume"])).simulation:
        return _resume_simulation(run, options)
    allocate(options)
    if options["resume"] is not None:
        named = options["hosts"], host_file(options), options["launcher"]
        return session.resume(options["resume"], *named)
    site = site_of(options)
    return session.begin(plan_of(study, options, given(context), site), options["out"], site)


def _resume_simulation(run: Run, options: dict[str, Any]) -> Prepared:
    """A run on a simulated machine that goes on; that machine has hosts of its own."""
    from nhalf.measure.simulate import session

    for name in ("hosts", "host_file", "launcher"):
        if options[name]:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is not for simulated machines", "leave it out")
    return session.resume(run)


def given(context: typer.Context) -> set[str]:
    """The options that stand on the command line."""
    return {
        name
        for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }


def _list(*, as_json: bool) -> None:
    """The studies that come with the program, a line each."""
    from nhalf.measure.plan import catalogue
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.tables import show_table

    found = [catalogue.study(name, cores=2) for name in catalogue.names()]
    if as_json:
        keys = ("name", "title", "what")
        emit_json({"studies": [{key: getattr(one, key) for key in keys} for one in found]})
    else:
        show_table(("study", "what it answers"), [(one.name, one.title) for one in found])


def _check_only_resume(context: typer.Context) -> None:
    """A run goes on with its own plan; raises InputError when another one was asked for."""
    others = given(context) - GOES_WITH_RESUME
    names = [
        parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.opts[0].upper()
        for parameter in context.command.params
        if parameter.name in others
    ]
    if names:
        raise InputError(
            f"a run goes on as it was begun, so --resume does not go with {', '.join(names)}",
            "begin another run for another plan",
        )


def measured(prepared: Prepared, progress: Progress) -> Outcome:
    """Measure; an interruption says how to go on."""
    from nhalf.measure.loop.session import measure

    try:
        return measure(prepared, progress)
    except KeyboardInterrupt as error:
        path = prepared.run.path
        how = "asked to end by SIGTERM" if isinstance(error, Terminated) else "interrupted"
        raise Interrupted(
            f"{how}; every finished point is kept",
            f"go on with: nhalf run --resume {shlex.quote(str(path))}",
        ) from None


def finish(outcome: Outcome, *, json: bool, quiet: bool, report: bool, style: str) -> None:
    """Tell what came out, write the report where wanted; a failed verification is an error."""
    from nhalf.facts.facts import Facts
    from nhalf.facts.unresolved import unresolved
    from nhalf.present.terminal.output import emit_json

    facts = Facts.of([outcome.run])
    written = None
    if report:
        from nhalf.present.report import write_report

        written = write_report(facts, outcome.run.path / "report.html")
    if json or quiet or style:
        for name, reason in outcome.failed.items():
            sys.stderr.write(f"nhalf: not measured: {name}: {reason}\n")
    if json:
        rows = unresolved(facts, outcome.unmeasured)
        emit_json({**run_json(outcome.run, facts), "unresolved": rows, "notes": outcome.notes})
    elif style:
        from nhalf.present.terminal.style import show_style

        show_style(style, facts)
    elif not quiet:
        from nhalf.present.terminal.summary import show_outcome

        show_outcome(outcome, facts, written)
    if outcome.lost:
        said = "; ".join(f"{host}: {reason}" for host, reason in outcome.lost.items())
        raise FailedError(
            f"lost while measuring: {said}; every finished point is kept",
            f"go on with the others: nhalf run --resume {shlex.quote(str(outcome.run.path))}",
        )
    wrong = facts.summary.filter(~facts.summary["verified"])
    if wrong.height:
        first = wrong.row(0, named=True)
        raise FailedError(
            f"{wrong.height} points did not verify, first {first['pattern']} of {first['bytes']} "
            f"bytes on {first['mpi'] or first['transport']}",
            "do not trust this library's data",
        )


def run_json(run: Run, facts: Facts) -> dict[str, Any]:
    """What `run --json` and `show --json` print, of all facts of a run or of some."""
    from nhalf.results import as_json
    from nhalf.store.axes import parse_axes

    points = facts.summary.drop("run", "bytes_per_time").to_dicts()
    for point in points:
        point["axes"] = parse_axes(point["axes"])
        point["values"] = {item["name"]: item["value"] for item in point["values"]}
    return {"run": str(run.path), "points": points, "results": as_json(facts.results)}
