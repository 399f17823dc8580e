# SPDX-License-Identifier: Apache-2.0
"""nhalf machines: look at machine files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List and show machine files.",
)


@app.command("list")
def list_machines(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where to look, with all its folders.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the machine files (*.toml with machines in them) under a folder."""
    from nhalf.cli._output import emit_json, stdout_console
    from nhalf.errors import InputError
    from nhalf.machines.machine import Machine, read

    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", "name a folder that holds machine files")
    found: list[tuple[Path, Machine]] = []
    for path in sorted(folder.rglob("*.toml")):
        try:
            found.append((path, read(path)))
        except InputError:
            # Other TOML files may lie beside them: only machine files are listed.
            continue
    if as_json:
        rows = [
            {"file": str(path), "name": m.name, "source": m.source, "models": len(m.models)}
            for path, m in found
        ]
        emit_json({"machines": rows})
        return
    screen = stdout_console()
    for path, machine in found:
        count = len(machine.models)
        words = f"{path}  {machine.name}  {count} model{'' if count == 1 else 's'}"
        screen.print(words, soft_wrap=True, markup=False, highlight=False)
    if not found:
        screen.print(f"no machine file under {folder}", markup=False, highlight=False)


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Machine file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the models of a machine file."""
    from nhalf.cli._machine_table import as_tables, model_json
    from nhalf.cli._output import emit_json, stdout_console
    from nhalf.machines.machine import read

    machine = read(file)
    if as_json:
        emit_json(
            {
                "machine": str(file),
                "name": machine.name,
                "source": machine.source,
                "environment": machine.environment,
                "models": [model_json(model) for model in machine.models],
                "loggp": machine.loggp,
            }
        )
        return
    screen = stdout_console()
    screen.print(f"{machine.name}: {machine.source}", markup=False, highlight=False)
    for key, value in machine.environment.items():
        screen.print(f"  {key}: {value}", soft_wrap=True, markup=False, highlight=False)
    for table in as_tables(machine):
        screen.print(table)
