# SPDX-License-Identifier: Apache-2.0
"""List and show machines of record and machine files.

nhalf machines list
nhalf machines show sp2-mpl
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nhalf.base.request import Word
from nhalf.cli.options import Changed, Tables


@dataclass(frozen=True, kw_only=True)
class List(Tables):
    """Where machines are looked for."""

    folder: Annotated[Path, Word("Folder to search, with its subfolders.")] = Path()


def list_machines(request: List) -> None:
    """List the machines of record and the machine files under a folder.

    nhalf machines list
    """
    from nhalf.base.errors import InputError
    from nhalf.present.terminal import machine_list
    from nhalf.present.terminal.output import emit_json, stdout_console

    if not request.folder.is_dir():
        raise InputError(
            f"{request.folder} is not a folder", "name a folder that holds machine files"
        )
    found = machine_list.listed(request.folder)
    if request.json:
        emit_json({"machines": [machine_list.as_json(one) for one in found]})
    else:
        machine_list.show_list(stdout_console(), found)


@dataclass(frozen=True, kw_only=True)
class Show(Changed, Tables):
    """Which machine is shown."""

    machine: Annotated[str, Word("Machine of record (name) or machine file.")]


def show(request: Show) -> None:
    """Show a machine: models, published figures, sources, unknown values.

    nhalf machines show sp2-mpl
    """
    from nhalf.machines import catalogue
    from nhalf.machines.change import change
    from nhalf.present.terminal.machine_show import machine_json, show_machine
    from nhalf.present.terminal.output import emit_json, stdout_console

    found = change(catalogue.machine(request.machine), request.set_)
    if request.json:
        emit_json(machine_json(found, str(catalogue.path_of(request.machine))))
    else:
        show_machine(stdout_console(), found)


COMMANDS = {"list": list_machines, "show": show}
