# SPDX-License-Identifier: Apache-2.0
"""nhalf fit: from a run to a machine file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nhalf.errors import InputError

if TYPE_CHECKING:
    from nhalf.machines.machine import Machine


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
    from nhalf.machines.machine import write

    machine, folder = _machine_of(run)
    path = (out or folder / "machine.toml").absolute()
    write(machine, path)
    if as_json:
        models = [model_json(model) for model in machine.models]
        emit_json({"machine": str(path), "models": models, "loggp": machine.loggp})
        return
    screen = stdout_console()
    for table in as_tables(machine):
        screen.print(table)
    screen.print(f"machine: {path}", soft_wrap=True, markup=False, highlight=False)


def _machine_of(path: Path) -> tuple[Machine, Path]:
    """The machine that a run describes and the run's folder.

    Raises InputError where there is nothing to fit.
    """
    from nhalf.decide.fit import SIZES_MIN, fit_loggp, fit_summary, machine_of
    from nhalf.statistics.summary import summarise
    from nhalf.store.run import Run

    run = Run.open(path)
    measurements = run.measurements()
    models = fit_summary(measurements, summarise(measurements))
    loggp = fit_loggp(measurements)
    if not models and not loggp:
        raise InputError(
            f"{path} has no curve to fit: each needs {SIZES_MIN} sizes with sound data",
            "measure more sizes, for instance --bytes 0:4M",
        )
    return machine_of(run.path, run.environment, models, loggp), run.path
