# SPDX-License-Identifier: Apache-2.0
"""`nhalf run`: measure."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nhalf.errors import FailedError, InputError, Interrupted
from nhalf.units import parse_duration

if TYPE_CHECKING:
    import polars as pl

    from nhalf.store.run import Run
    from nhalf.study.plan import Plan
    from nhalf.study.session import Outcome

LAUNCHES = 5


def command(
    context: typer.Context,
    pattern: Annotated[
        str, typer.Option(help="Patterns, separated by commas, or all.")
    ] = "pingpong",
    transport: Annotated[
        str, typer.Option(help="Transports: mpi, threads, model; separated by commas.")
    ] = "mpi",
    mpi: Annotated[str, typer.Option(help="MPI libraries by name, or all that are here.")] = "all",
    ranks: Annotated[str, typer.Option(help="Numbers of ranks, separated by commas.")] = "2",
    sizes: Annotated[
        str,
        typer.Option(
            "--bytes", help="Message sizes: a range 0:4M, a list 0,8,4K or a grid 0:2000:1."
        ),
    ] = "0:4M",
    launches: Annotated[int, typer.Option(min=1, help="How often each library is started.")] = (
        LAUNCHES
    ),
    budget: Annotated[
        str, typer.Option(help="Time for the whole run, such as 60s; shared by all points.")
    ] = "",
    precision: Annotated[
        float, typer.Option(help="Relative half-width of the interval that is good enough.")
    ] = 0.01,
    placement: Annotated[
        str, typer.Option(help="cores: every rank on a core of its own; free: as it comes.")
    ] = "cores",
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
    report: Annotated[bool, typer.Option("--report", help="Write the HTML report, too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither bar nor summary.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure; every finished point is kept, and an interrupted run can be resumed."""
    from nhalf.study.progress import Progress
    from nhalf.study.session import begin
    from nhalf.study.session import resume as reopen

    if resume is not None:
        _check_only_resume(context)
        prepared = reopen(resume)
    else:
        choices: dict[str, Any] = {
            "transports": _words(transport), "mpi": _words(mpi), "patterns": _words(pattern),
            "ranks": _ranks(ranks), "bytes": sizes, "launches": launches, "options": model,
            "budget_s": parse_duration(budget) if budget else 0.0, "seed": seed,
            "precision": _precision(precision), "placement": _placement(placement),
            "timeout_s": parse_duration(timeout), "mpi_prefixes": _folders(mpi_prefix),
        }  # fmt: skip
        prepared = begin(_plan(choices), out)
    outcome = _measure(prepared, Progress(quiet or json))
    _finish(outcome, json=json, quiet=quiet, report=report)


def _check_only_resume(context: typer.Context) -> None:
    """A run goes on with its own plan; raises InputError when another one was asked for."""
    allowed = {"resume", "report", "quiet", "json"}
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name is not None
        and parameter.name not in allowed
        and getattr(context.get_parameter_source(parameter.name), "name", "") == "COMMANDLINE"
    ]
    if given:
        raise InputError(
            f"a run goes on as it was begun, so --resume does not go with {', '.join(given)}",
            "begin another run for another plan",
        )


def _measure(prepared: tuple[Run, Plan, Any, dict[str, str]], progress: Any) -> Outcome:
    """Measure; an interruption says how to go on."""
    from nhalf.study.session import measure

    try:
        return measure(*prepared, progress)
    except KeyboardInterrupt:
        path = prepared[0].path
        raise Interrupted(
            "interrupted; every finished point is kept",
            f"go on with: nhalf run --resume {shlex.quote(str(path))}",
        ) from None


def _finish(outcome: Outcome, *, json: bool, quiet: bool, report: bool) -> None:
    """Tell what came out, write the report where wanted; a failed verification is an error."""
    from nhalf.cli._output import emit_json
    from nhalf.statistics.summary import summarise

    summary = summarise(outcome.run.measurements())
    written = None
    if report:
        from nhalf.report import write_report

        written = write_report([outcome.run], outcome.run.path / "report.html")
    if json or quiet:
        for name, reason in outcome.failed.items():
            sys.stderr.write(f"nhalf: not measured: {name}: {reason}\n")
    if json:
        emit_json(run_json(outcome.run, summary))
    elif not quiet:
        from nhalf.cli._summary import show_outcome

        show_outcome(outcome, summary, written)
    wrong = summary.filter(~summary["verified"])
    if wrong.height:
        first = wrong.row(0, named=True)
        raise FailedError(
            f"{wrong.height} points did not verify, first {first['pattern']} of {first['bytes']} "
            f"bytes on {first['mpi'] or first['transport']}",
            "do not trust this library's data",
        )


def run_json(
    run: Run, summary: pl.DataFrame, measurements: pl.LazyFrame | None = None
) -> dict[str, Any]:
    """What `run --json` and `show --json` print; of the measurements given, or of all."""
    from nhalf.results import as_json, results
    from nhalf.statistics.axes import parse_axes

    points = summary.drop("run", "bytes_per_time").to_dicts()
    for point in points:
        point["axes"] = parse_axes(point["axes"])
        point["values"] = {item["name"]: item["value"] for item in point["values"]}
    found = results(run.measurements() if measurements is None else measurements, summary)
    return {"run": str(run.path), "points": points, "results": as_json(found)}


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError(f"{text!r} names nothing", "give names separated by commas")
    return list(dict.fromkeys(words))


def _ranks(text: str) -> list[int]:
    try:
        ranks = sorted({int(word) for word in _words(text)})
    except ValueError:
        raise InputError(f"{text!r} is not a list of ranks", "write 2 or 2,4,8") from None
    if ranks[0] < 1 or ranks[-1] > 1 << 20:
        raise InputError(f"{text!r} is no possible number of ranks", "give 1 or more")
    return ranks


def _precision(value: float) -> float:
    if not 0 < value < 1:
        raise InputError(f"a precision of {value} is not possible", "give a fraction such as 0.01")
    return value


def _placement(name: str) -> str:
    from nhalf.errors import unknown

    if name not in ("cores", "free"):
        raise unknown("placement", name, ("cores", "free"))
    return name


def _folders(paths: list[Path] | None) -> list[str]:
    return [str(path.resolve()) for path in paths or []]


def _plan(choices: dict[str, Any]) -> Plan:
    """The plan; parameters of the model are checked before anything is written."""
    from nhalf.study.plan import Plan

    plan = Plan(**choices)
    if not plan.options:
        return plan
    if plan.transports != ["model"]:
        raise InputError("--model belongs to the model transport", "add --transport model")
    from nhalf.study.options import check_options
    from nhalf.study.subject import plain_subject

    check_options(plan.options, plain_subject("model").description["options"])
    return plan
