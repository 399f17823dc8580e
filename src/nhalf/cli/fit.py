# SPDX-License-Identifier: Apache-2.0
"""nhalf fit: from a run to a machine file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    out: Annotated[
        Path | None, typer.Option(help="Machine file to write. Default: machine.toml in the run.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fit models to a run and write them as a machine file."""
    from nhalf.cli._machine_table import as_tables, model_json
    from nhalf.cli._output import emit_json, stdout_console
    from nhalf.decide.fit import machine_of_run
    from nhalf.machines.machine import write
    from nhalf.store.run import Run

    measured = Run.open(run)
    machine = machine_of_run(measured)
    path = (out or measured.path / "machine.toml").absolute()
    write(machine, path)
    if as_json:
        models = [model_json(model) for model in machine.models]
        emit_json({"machine": str(path), "models": models, "loggp": machine.loggp})
        return
    screen = stdout_console()
    for table in as_tables(machine):
        screen.print(table)
    screen.print(f"machine: {path}", soft_wrap=True, markup=False, highlight=False)
