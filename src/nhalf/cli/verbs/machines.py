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
from nhalf.cli.options import ChangeOptions, TableOptions

GROUP = "machine"


@dataclass(frozen=True, kw_only=True)
class List(TableOptions):
    """Where to search for machines."""

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
    machines = machine_list.listed(request.folder)
    if request.json:
        emit_json({"machines": [machine_list.as_json(machine) for machine in machines]})
    else:
        machine_list.show_list(stdout_console(), machines)


@dataclass(frozen=True, kw_only=True)
class Show(ChangeOptions, TableOptions):
    """The machine to show."""

    machine: Annotated[str, Word("Machine of record (name) or machine file.")]


def show(request: Show) -> None:
    """Show a machine: models, published figures, sources, unknown values.

    nhalf machines show sp2-mpl
    """
    from nhalf.machines import catalogue
    from nhalf.machines.change import change
    from nhalf.present.terminal.machine_show import machine_json, show_machine
    from nhalf.present.terminal.output import emit_json, stdout_console

    machine = change(catalogue.machine(request.machine), request.set_)
    if request.json:
        emit_json(machine_json(machine, str(catalogue.path_of(request.machine))))
    else:
        show_machine(stdout_console(), machine)


COMMANDS = {"list": list_machines, "show": show}
