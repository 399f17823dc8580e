# SPDX-License-Identifier: Apache-2.0
"""`nhalf show`: the numbers of runs as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nhalf.base.errors import InputError, unknown

if TYPE_CHECKING:
    from nhalf.machines.machine import Machine


def command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|MACHINE", help="Run directory, finished or not; machine, by name or file."
        ),
    ],
    pattern: Annotated[str, typer.Argument(help="Only this pattern.")] = "",
    mpi: Annotated[str, typer.Option(help="Only this library.")] = "",
    style: Annotated[str, typer.Option(help="Print tables as imb or osu do.")] = "",
    formula: Annotated[
        str, typer.Option(help="Of a machine, the formulas of its models: text, latex or python.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show every point of a run (median, interval, rate, launches, doubts), or a machine."""
    from nhalf.cli.verbs.run import run_json
    from nhalf.facts.facts import Facts
    from nhalf.machines.catalogue import is_machine
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.results import show_results
    from nhalf.present.terminal.summary import show_points
    from nhalf.store.run import Run

    if is_machine(run):
        _show_machine(run, pattern, mpi, style, formula, json)
        return
    if formula:
        raise InputError("--formula is for machines", f"fit the run first: nhalf fit {run}")
    opened = Run.open(run)
    facts = Facts.of([opened]).restricted(pattern=pattern, mpi=mpi)
    if json:
        emit_json(run_json(opened, facts))
    elif style:
        from nhalf.present.terminal.style import show_style

        show_style(style, facts)
    else:
        show_points(facts)
        show_results(facts.results, facts.titles)


def _show_machine(
    machine: Path, pattern: str, mpi: str, style: str, formula: str, json: bool
) -> None:
    from nhalf.machines import catalogue
    from nhalf.present.terminal.machine_show import machine_json, narrowed, show_machine
    from nhalf.present.terminal.output import emit_json, stdout_console

    if style:
        raise InputError("--style is for runs", f"leave it out: {machine} is a machine")
    found = narrowed(catalogue.machine(machine), pattern, mpi)
    if formula:
        _show_formulas(found, formula, json)
    elif json:
        emit_json(machine_json(found, str(catalogue.path_of(machine))))
    else:
        show_machine(stdout_console(), found)


def _show_formulas(machine: Machine, form: str, json: bool) -> None:
    import sys

    from nhalf.machines.formula import FORMS, formulas
    from nhalf.present.terminal.output import emit_json

    if form not in FORMS:
        raise unknown("form", form, FORMS)
    text = formulas(machine, form)
    if json:
        emit_json({"machine": machine.name, "form": form, "formulas": text})
    else:
        sys.stdout.write(text)
