# SPDX-License-Identifier: Apache-2.0
"""`nhalf predict` of a traced program: its own calls on another machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from nhalf.facts.program.program import Program
    from nhalf.machines.computing import ComputingRatio
    from nhalf.machines.machine import Machine


@dataclass(frozen=True)
class TraceRequest:
    """What `nhalf predict` was asked of traces: as typed; `given` are the options that were."""

    paths: Sequence[str]
    machine: str
    mpi: str
    traced_on: str
    placement: str
    computing_factor: str
    simgrid: bool
    algorithms: Path | None
    changes: Sequence[str]
    given: Collection[str]


OF_PATTERNS = {"ranks", "sizes", "extrapolate", "simulate", "out", "report"}


def predict_trace(request: TraceRequest, *, as_json: bool) -> None:
    """Print the predicted run time with its error; raises InputError for options of patterns."""
    from nhalf.cli.machine_side import side
    from nhalf.decide.program.launches import predict_launches
    from nhalf.decide.program.predict import Asked
    from nhalf.facts.program.program import Program
    from nhalf.machines.change import change
    from nhalf.mpi.decision_table import read_table
    from nhalf.present.program.prediction import prediction_lines
    from nhalf.present.terminal.output import emit_json, stdout_console

    others = sorted(OF_PATTERNS.intersection(request.given))
    if others:
        raise InputError(f"{request.paths[0]} is a trace and has no {others[0]}", "leave it out")
    if request.simgrid and request.algorithms is not None:
        raise InputError("--simgrid has algorithms of its own", "leave out one of both")
    machine, library = side(request.machine)
    traced_on, traced_library = side(request.traced_on) if request.traced_on else (None, "")
    asked = Asked(
        change(machine, request.changes),
        request.mpi or library,
        request.placement,
        _computing(request, machine, traced_on),
        request.simgrid,
        tuple(read_table(request.algorithms)) if request.algorithms else (),
    )
    programs = [Program.open(Path(each)) for each in request.paths]
    if traced_on is not None:
        traced_library = traced_library or _library_of(programs[0], traced_on)
    found = predict_launches(programs, asked, traced_on, traced_library)
    if as_json:
        emit_json(found.as_json())
    else:
        for line in prediction_lines(found):
            stdout_console().print(line, markup=False, soft_wrap=True)


def _library_of(program: Program, machine: Machine) -> str:
    """The machine's library that the program ran with.

    '' if the machine knows one at most. Raises InputError if it is none or several of them.
    """
    from nhalf.machines.curve import message_libraries
    from nhalf.mpi.vendors import libraries_in

    known = message_libraries(machine)
    found = libraries_in(program.library, known)
    if len(known) > 1 and len(found) != 1:
        raise InputError(
            f"{program.path} ran with {program.library or 'an unknown library'}: which of the "
            f"libraries of {machine.name} is that?",
            "name one with --traced-on MACHINE:LIBRARY: " + ", ".join(known),
        )
    return found[0] if found else ""


def _computing(
    request: TraceRequest, machine: Machine, traced_on: Machine | None
) -> ComputingRatio:
    """As typed, else by the cores of both machines where both are known, else as it was."""
    from nhalf.machines.computing import ComputingRatio, computing_ratio

    known = computing_ratio(traced_on.computing, machine.computing) if traced_on else None
    if known is None or "computing_factor" in request.given:
        factor = _factor(request.computing_factor)
        return ComputingRatio(factor, {"as given": factor})
    return known


def _factor(text: str) -> float:
    """A positive number; raises InputError."""
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 0 < factor < math.inf:
        raise InputError(
            f"--computing-factor {text} is no factor", "1 is as fast, 0.5 twice as fast"
        )
    return factor
