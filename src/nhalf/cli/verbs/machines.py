# SPDX-License-Identifier: Apache-2.0
"""nhalf machines: machines of record and machine files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List and show machines: those of record, and machine files.",
)


@app.command("list")
def list_machines(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where to look, with all its folders.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the machines of record and the machine files under a folder."""
    from nhalf.base.errors import InputError
    from nhalf.present.terminal import machine_list
    from nhalf.present.terminal.output import emit_json, stdout_console

    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", "name a folder that holds machine files")
    found = machine_list.listed(folder)
    if as_json:
        emit_json({"machines": [machine_list.as_json(one) for one in found]})
    else:
        machine_list.show_list(stdout_console(), found)


@app.command("show")
def show(
    machine: Annotated[
        str,
        typer.Argument(metavar="MACHINE", help="Machine of record by its name, or machine file."),
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Show it with this changed (network.bandwidth=2x)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show all of a machine: models, published figures, sources, what is not known."""
    from nhalf.machines import catalogue
    from nhalf.machines.change import change
    from nhalf.present.terminal.machine_show import machine_json, show_machine
    from nhalf.present.terminal.output import emit_json, stdout_console

    found = change(catalogue.machine(machine), changes or [])
    if as_json:
        emit_json(machine_json(found, str(catalogue.path_of(machine))))
    else:
        show_machine(stdout_console(), found)
