# SPDX-License-Identifier: Apache-2.0
"""`nhalf export`: what nhalf knows, in the form of another program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nhalf.errors import InputError, MissingError, unknown


def command(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Run directory to take values from.")
    ] = None,
    to: Annotated[str, typer.Option("--to", help="The form; see --list.")] = "",
    reframe: Annotated[bool, typer.Option("--reframe", help="Short for --to reframe.")] = False,
    out: Annotated[Path | None, typer.Option(help="File to write, instead of printing it.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the forms.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Export for other programs: a ReFrame check that runs nhalf with references of a run."""
    from nhalf.cli._output import emit_json
    from nhalf.exporters import PACKAGE, Exporter
    from nhalf.plugins import load
    from nhalf.store.run import Run

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
    text = known[name]().text(None if run is None else Run.open(run))
    if out is not None:
        _write(out, text)
    if json:
        emit_json({"to": name, "out": None if out is None else str(out.absolute()), "text": text})
    else:
        sys.stdout.write(text if out is None else f"{name}: {out}\n")


def _list(forms: dict[str, str], *, as_json: bool) -> None:
    """The forms, a line each."""
    from nhalf.cli._output import emit_json
    from nhalf.cli._summary import show_table

    if as_json:
        emit_json({"forms": [{"name": name, "what": what} for name, what in forms.items()]})
    else:
        show_table(("form", "what is written"), list(forms.items()))


def _write(path: Path, text: str) -> None:
    from nhalf.store.run import write_atomically

    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise MissingError(
            f"cannot write {path}: {error.strerror or error}", "choose another place with --out"
        ) from error
