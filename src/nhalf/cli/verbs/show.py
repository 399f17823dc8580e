"""`nhalf show`: the numbers of runs as tables."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, TableOptions
from nhalf.cli.outcome import run_json
from nhalf.cli.sides import announce, newest_run, run_and_library
from nhalf.present.terminal.output import emit_json, stdout_console
from nhalf.present.terminal.tables import show_frame, show_style

with lazily(globals()):
    from nhalf.decide.program.tolerance_curves import curves
    from nhalf.facts.facts import Facts
    from nhalf.facts.program.program import Program
    from nhalf.machines import catalogue
    from nhalf.machines.catalogue import is_machine
    from nhalf.machines.formula import formulas
    from nhalf.present.program.answer import program_json
    from nhalf.present.program.terminal import show_program
    from nhalf.present.program.tolerance import show_curves
    from nhalf.present.terminal.machine_show import machine_json, narrowed, show_machine
    from nhalf.present.terminal.summary import (
        show_guidelines,
        show_points,
        show_quantiles,
        show_results,
    )

GROUP = "look"
FORMS = {"--sql": "sql"}


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="What to show"):
    """The run, trace or machine to show, and which part of it."""

    run: Path = word(
        Path(),
        "Run (finished or not), trace, or machine (name or file); default: the newest run in "
        "./runs.",
        "RUN|MACHINE",
    )
    pattern: str = word("", "Only this pattern.")
    only: str = option("", "Same as PATTERN.", "--pattern")
    mpi: str = option("", "Only this library.")
    style: str = option("", "Print tables in the style of imb or osu.", heading=OUTPUT)
    quantiles: str = option(
        "",
        "Show how long the slowest samples take: quantiles in percent, e.g. 50,95,99,99.9.",
        heading=OUTPUT,
    )
    formula: str = option("", "Print the formulas of a machine's models: text, latex or python.")
    tolerance: bool = option(
        False,
        "Show how a trace's run time grows with latency, overhead, time per byte, noise and a "
        "slow node.",
    )


def command(request: Request) -> int:
    """Show the points of a run with intervals and warnings, a trace or a machine; or ask SQL.

    The exit code is 1 if data arrived wrong.

    nhalf show runs/today
    nhalf show runs/today:openmpi allreduce
    nhalf show runs/today pingpong --quantiles 50,99,99.9
    nhalf show runs/today --format csv
    nhalf show sp2-mpl --formula latex
    nhalf show runs/traced --tolerance
    """
    if request.only and request.pattern:
        raise InputError("two patterns are given", "use PATTERN or --pattern, not both")
    request = replace(
        request,
        run=request.run if "run" in request.given else newest_run(),
        pattern=request.pattern or request.only,
    )
    is_trace = (request.run / "trace.json").is_file()
    if request.tolerance and not is_trace:
        raise InputError(f"{request.run} is not a trace", "leave out --tolerance")
    if request.quantiles and (is_trace or is_machine(request.run)):
        raise InputError(f"{request.run} has no samples", "--quantiles is for runs: leave it out")
    if is_machine(request.run):
        _show_machine(request)
    elif is_trace:
        _show_program(request)
    else:
        return _show_run(request)
    return 0


def _show_program(request: Request) -> None:
    for spelling, value in (("PATTERN", request.pattern), ("--mpi", request.mpi)):
        if value:
            raise InputError(f"{request.run} is a trace and has no {spelling}", "leave it out")
    if request.style or request.formula:
        raise InputError(f"{request.run} is a trace", "leave out --style and --formula")
    program = Program.open(request.run)
    if request.tolerance:
        drawn = curves([program])
        if request.json:
            emit_json({"run": str(program.path), "curves": drawn})
        else:
            show_curves(program, drawn)
    elif request.json:
        emit_json(program_json(program))
    else:
        show_program(program)


def _show_run(request: Request) -> int:
    """Show a run; 1 if its data arrived wrong."""
    if request.formula:
        raise InputError("--formula is for machines", f"fit the run first: nhalf fit {request.run}")
    run, mpi = run_and_library(request.run, request.mpi)
    facts = Facts.of([run]).restricted(pattern=request.pattern, mpi=mpi)
    is_wrong = announce(facts, request)
    shares = _quantiles(request.quantiles)
    if request.json:
        emit_json(run_json(run, facts, shares))
    elif request.style:
        show_style(request.style, facts, shares)
    elif shares:
        show_quantiles(facts, shares, request.format)
    elif request.format == "csv":
        show_frame(facts.summary)
    else:
        show_results(facts.results, facts.titles)
        show_points(facts)
        show_guidelines(facts)
    return int(is_wrong)


def _quantiles(text: str) -> tuple[float, ...]:
    """Shares from '50,99.9' percent; raises InputError for anything but percentages."""
    words = [word.strip().removesuffix("%").strip() for word in text.split(",")] if text else []
    if not all(re.fullmatch(r"\d{1,2}(\.\d{1,6})?", word) and float(word) > 0 for word in words):
        raise InputError(f"{text!r} are no quantiles", "write percent: --quantiles 50,95,99,99.9")
    return tuple(sorted({round(float(word) / 100, 8) for word in words}))


def _show_machine(request: Request) -> None:
    if request.style:
        raise InputError("--style is for runs", f"leave it out: {request.run} is a machine")
    machine = narrowed(catalogue.machine(request.run), request.pattern, request.mpi)
    if request.formula:
        from nhalf.machines.formula import FORMS

        if request.formula not in FORMS:
            raise unknown("form", request.formula, FORMS)
        text = formulas(machine, request.formula)
        if request.json:
            emit_json({"machine": machine.name, "form": request.formula, "formulas": text})
        else:
            sys.stdout.write(text)
    elif request.json:
        emit_json(machine_json(machine, str(catalogue.path_of(request.run))))
    else:
        show_machine(stdout_console(), machine)
