# SPDX-License-Identifier: Apache-2.0
"""`nhalf export`: what nhalf knows, in the form of another program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nhalf.base.errors import InputError, unknown

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.machines.machine import Machine


def command(
    subject: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|MACHINE]", help="Run directory, machine of record or machine file."
        ),
    ] = None,
    to: Annotated[str, typer.Option("--to", help="The form; see --list.")] = "",
    reframe: Annotated[bool, typer.Option("--reframe", help="Short for --to reframe.")] = False,
    mpi: Annotated[str, typer.Option(help="The library, where there are several.")] = "",
    pattern: Annotated[str, typer.Option(help="The pattern, for goal.")] = "",
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Number of ranks, for goal and simgrid.")
    ] = None,
    size: Annotated[str, typer.Option("--bytes", help="Size of a message, for goal.")] = "",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change the machine first; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write, instead of printing it.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the forms.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Export for other programs: SimGrid, LogGOPSim, Extra-P, ReFrame."""
    from nhalf.base.plugins import load
    from nhalf.base.units import parse_size
    from nhalf.exchange.exporters import PACKAGE, Asked, Exporter
    from nhalf.present.terminal.output import emit_json

    known = load(PACKAGE, Exporter)
    if list_:
        _list({name: exporter.what for name, exporter in known.items()}, as_json=json)
        return
    if reframe and to not in ("", "reframe"):
        raise InputError(f"--reframe and --to {to} are two forms", "name one")
    name = "reframe" if reframe else to
    if not name:
        raise InputError("which form?", "name one with --to: " + ", ".join(known))
    if name not in known:
        raise unknown("form", name, known)
    options = {"--mpi": "mpi", "--pattern": "pattern", "--ranks": "ranks", "--bytes": "size_bytes"}
    asked = Asked(mpi, pattern, ranks, parse_size(size) if size else None)
    for option, member in options.items():
        if getattr(asked, member) not in (None, "") and member not in known[name].takes:
            raise InputError(f"{name} has no {option}", "leave it out")
    text = known[name](asked).text(_subject(subject, change or []))
    if out is not None:
        _write(out, text)
    if json:
        emit_json({"to": name, "out": None if out is None else str(out.absolute()), "text": text})
    else:
        sys.stdout.write(text if out is None else f"{name}: {out}\n")


def _subject(path: Path | None, changes: list[str]) -> Facts | Machine | None:
    """What is exported; a run becomes a machine where it is to be changed.

    Raises InputError where there is neither a run nor a machine.
    """
    from nhalf.exchange.exporters import the_machine
    from nhalf.facts.facts import Facts
    from nhalf.machines import catalogue
    from nhalf.machines.change import change
    from nhalf.store.run import Run

    found: Facts | Machine | None = None
    if path is not None:
        known = catalogue.is_machine(path)
        found = catalogue.machine(path) if known else Facts.of([Run.open(path)])
    return change(the_machine(found, "--set"), changes) if changes else found


def _list(forms: dict[str, str], *, as_json: bool) -> None:
    """The forms, a line each."""
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.tables import show_table

    if as_json:
        emit_json({"forms": [{"name": name, "what": what} for name, what in forms.items()]})
    else:
        show_table(("form", "what is written"), list(forms.items()))


def _write(path: Path, text: str) -> None:
    from nhalf.base.files import write_text

    write_text(path, text)
