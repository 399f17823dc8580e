"""`nhalf predict` of a traced program: its own calls on another machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from nhalf.base.errors import InputError, MissingError, NhalfError
from nhalf.base.printable import say
from nhalf.base.units import number_in
from nhalf.cli.lazy import lazily
from nhalf.cli.options import PredictRequest
from nhalf.cli.sides import machine_and_library, open_program, parse_flop_rate
from nhalf.mpi import Library
from nhalf.mpi.decision_table import read_table
from nhalf.present.terminal.output import console, emit_json, print_lines, stdout_console

with lazily(globals()):
    from nhalf.decide.ledger.lines import Predicted, append_lines, usual_path
    from nhalf.decide.ledger.recording import calibrated_program, line_of_program
    from nhalf.decide.program.alternatives import Alternative, predict_alternatives
    from nhalf.decide.program.asked_operations import AskedOperations, works_of
    from nhalf.decide.program.costs import MachineCosts
    from nhalf.decide.program.launches import predict_launches
    from nhalf.decide.program.predict import ProgramPrediction
    from nhalf.decide.program.target import Target, hosts_on
    from nhalf.facts.program.program import Program, has_whole_timeline
    from nhalf.machines.change import change
    from nhalf.machines.computing import Computing, ComputingRatio, computing_ratio
    from nhalf.machines.machine import Machine
    from nhalf.machines.message import Messages
    from nhalf.machines.processor import time_ratio
    from nhalf.measure.virtual.machine import start_s
    from nhalf.measure.virtual.subject import AskedLibrary
    from nhalf.mpi.discover import find, libraries
    from nhalf.mpi.vendors import libraries_in, vendors
    from nhalf.present.program.prediction import prediction_lines, show_predictions


OF_PATTERNS = {"ranks", "sizes", "extrapolate", "simulate", "out", "report"}
ALL_LIBRARIES = "all"
"""Value of --mpi for every library that a machine has."""


def predict_trace(request: PredictRequest) -> None:
    """Print the predicted run time with its error, and a table of several alternatives.

    Raises InputError for options of patterns, and where counts alone predict nothing; FailedError
    if none of several can be predicted.
    """
    misplaced = sorted(OF_PATTERNS.intersection(request.given))
    if misplaced:
        raise InputError(f"{request.subject} is a trace and has no {misplaced[0]}", "leave it out")
    if request.simgrid and request.algorithms is not None:
        raise InputError("--simgrid has algorithms of its own", "leave out one of both")
    traced_on, traced_library = (
        machine_and_library(request.traced_on) if request.traced_on else (None, "")
    )
    flop_rate = parse_flop_rate(request.flop_rate)
    paths = (request.subject, *request.further_traces)
    programs = [open_program(Path(path), flop_rate) for path in paths]
    traced_messages = None
    if traced_on is not None:
        traced_library = traced_library or _library_of(programs[0], traced_on)
        traced_messages = Messages(traced_on, traced_library)
    candidates, machine_named = _alternatives(request), cache(machine_and_library)

    def predicted(alternative: Alternative) -> ProgramPrediction:
        subject = machine_named(alternative.machine)
        return _predicted(request, alternative, subject, programs, traced_messages)

    if len(candidates) == 1:
        prediction = predicted(candidates[0])
        _check_counts(programs, [prediction])
        if request.json:
            emit_json(prediction.as_json())
            return
        print_lines(stdout_console(), *prediction_lines(prediction))
        return
    alternatives = predict_alternatives(candidates, predicted)
    if alternatives.common_error is not None:
        raise alternatives.common_error
    _check_counts(programs, alternatives.predictions)
    if request.json:
        emit_json(alternatives.as_json())
    else:
        show_predictions(stdout_console(), alternatives)
    alternatives.check()


def _check_counts(programs: Sequence[Program], predictions: Sequence[ProgramPrediction]) -> None:
    """Raises InputError if no order of the calls is known, and their counts are not enough."""
    from nhalf.decide.program.predict import COUNTS

    if all(prediction.is_certain or prediction.method != COUNTS for prediction in predictions):
        return
    lacking = next(program for program in programs if not has_whole_timeline(program))
    has_part = not lacking.timeline.is_empty()
    raise InputError(
        f"the timeline of {lacking.path} is cut off, and counts alone predict nothing"
        if has_part
        else f"{lacking.path} has no timeline, and counts alone predict nothing",
        "trace again with --detail timeline" + (" and room for every call" if has_part else ""),
    )


def _alternatives(request: PredictRequest) -> list[Alternative]:
    """Every machine with every library and every placement that was named."""
    return [
        Alternative(machine, library, placement)
        for machine in _machines(request.machine)
        for library in _libraries(machine, request.mpi)
        for placement in _listed(request.placement)
    ]


def _machines(text: str) -> list[str]:
    """The machines of a list; a path may have commas itself."""
    return [text] if Path(text).exists() else list(dict.fromkeys(filter(None, text.split(","))))


def _libraries(machine: str, text: str) -> list[str]:
    """The libraries of a list, '' for the machine's own; ALL are those that the machine has."""
    if text != ALL_LIBRARIES:
        return _listed(text)
    try:
        return Messages(machine_and_library(machine)[0]).libraries or [""]
    except NhalfError:
        return [""]  # said where the machine is predicted


def _listed(text: str) -> list[str]:
    """The entries of a list; '' alone if there is none."""
    return list(dict.fromkeys(filter(None, text.split(",")))) or [""]


def _predicted(
    request: PredictRequest,
    alternative: Alternative,
    subject: tuple[Machine, str],
    programs: Sequence[Program],
    traced_on: Messages | None,
) -> ProgramPrediction:
    machine, of_machine = subject
    messages, library, not_asked = messages_and_library(
        change(machine, request.set_), of_machine, alternative.mpi
    )
    operations = None
    if library is not None and not request.simgrid:
        origin = traced_on.machine.name if traced_on else ""
        hosts = hosts_on(programs[0], messages.machine, alternative.placement, origin)
        operations = asked_operations(messages, library, programs, hosts, saying(library.name))
    target = Target(
        messages,
        alternative.placement,
        _computing(request, machine, traced_on.machine if traced_on else None, programs),
        request.simgrid,
        tuple(read_table(request.algorithms)) if request.algorithms else (),
        operations,
        not_asked,
    )
    prediction = calibrated_program(predict_launches(programs, target, traced_on), request.ledger)
    if request.record:
        record(request.ledger, [line_of_program(prediction, programs[0], target)])
    return prediction


def saying(name: str) -> Callable[[str], None]:
    """Says how far a library is that is asked."""
    return lambda text: say(f"{name} is asked: {text}")


def _library_of(program: Program, machine: Machine) -> str:
    """The machine's library that the program ran with, '' if the machine has at most one.

    Raises InputError if none or several of its libraries match.
    """
    libraries = Messages(machine).libraries
    matches = libraries_in(program.library, libraries)
    if len(libraries) > 1 and len(matches) != 1:
        raise InputError(
            f"{program.path} ran with {program.library or 'an unknown library'}: which of the "
            f"libraries of {machine.name} is that?",
            "name one with --traced-on MACHINE:LIBRARY: " + ", ".join(libraries),
        )
    return matches[0] if matches else ""


def _computing(
    request: PredictRequest,
    machine: Machine,
    traced_on: Machine | None,
    programs: Sequence[Program],
) -> ComputingRatio:
    """The factor as typed, else the ratio of both processors, or of what both machine files say of
    a core; unknown of a machine that says something else of its cores, else as it was.
    """
    from nhalf.decide.program.target import AS_IT_WAS, NOT_KNOWN

    if "computing_factor" in request.given:
        factor = _factor(request.computing_factor)
        return ComputingRatio(factor, {"as given": factor})
    own = traced_on.computing if traced_on else None
    if own is not None and own == machine.computing:
        return AS_IT_WAS
    ratio = _of_processors(own, machine.computing, programs)
    if ratio is None and traced_on is not None:
        ratio = computing_ratio(own, machine.computing)
    is_other = machine.computing is not None and not (traced_on and traced_on.name == machine.name)
    return ratio or (NOT_KNOWN if is_other else AS_IT_WAS)


def _of_processors(
    own: Computing | None, target: Computing | None, programs: Sequence[Program]
) -> ComputingRatio | None:
    """The ratio of two described processors, as `nhalf try --computing` has it; that of the trace
    may be the one here, if it was measured.
    """
    from nhalf.node.described import HERE, described, is_here

    if target is None or not target.processor:
        return None
    hosts = {host for program in programs for host in program.hosts}
    name = own.processor if own else HERE if is_here(hosts) else ""
    return time_ratio(described(name), described(target.processor)) if name else None


def _factor(text: str) -> float:
    """A positive number; raises InputError."""
    factor = number_in(text)
    if not 0 < factor < math.inf:
        raise InputError(
            f"--computing-factor {text} is no factor", "1 is as fast, 0.5 twice as fast"
        )
    return factor


def messages_and_library(
    machine: Machine, of_machine: str, name: str
) -> tuple[Messages, Library | None, str]:
    """The messages of a machine, the library to be asked, and why there is none.

    `of_machine` is that of MACHINE:LIBRARY, `name` that of --mpi; '' for none. Raises InputError
    for a name that is neither of the machine nor of a library that may be installed.
    """
    own = Messages(machine, name or of_machine)
    if not name:
        return own, None, ""
    try:
        own_name = own.library
    except InputError:
        # Curves of another library that was measured say nothing of this one.
        names = {library.partition("-")[0] for library in own.libraries}
        if name.partition("-")[0] not in vendors() or names & vendors().keys():
            raise
        own_name, own = "", Messages(machine, of_machine)
    if own_name and own_name.partition("-")[0] not in vendors():
        return own, None, ""
    try:
        library = find(name)
    except NhalfError as error:
        return own, None, "" if own_name else f"{error.message}: {error.remedy}"
    # What another version did there was measured; this one would answer otherwise.
    return own, library if own_name in ("", library.name) else None, ""


def asked_operations(
    messages: Messages,
    library: Library,
    programs: Sequence[Program],
    hosts: Sequence[str],
    say: Callable[[str], None],
) -> AskedOperations:
    """What a library answers of the operations of programs whose ranks are on these hosts.

    Of a machine that was measured with the library, only what was not measured is asked for, and
    nothing within one node, where the library has ways that virtual time has not.
    """
    from nhalf.measure.virtual.machine import START_MOST
    from nhalf.measure.virtual.subject import LIMIT_S

    ask = AskedLibrary(messages, library, libraries(), say).times_s
    title = f"{library.vendor_title or library.vendor} {library.version}"
    operations = AskedOperations(library.name, title, messages, ask)
    numbers: dict[str, int] = {}
    nodes = [numbers.setdefault(host, len(numbers)) for host in hosts]
    works = {work for program in programs for work in works_of(program)}
    if messages.library == library.name:
        costs = MachineCosts(messages, hosts)
        works = {work for work in works if len(numbers) > 1 and not costs.is_measured(*work)}
    if START_MOST * start_s(library, len(hosts)) > LIMIT_S:
        operations.refusals.add(f"{len(hosts)} ranks take too long to start in virtual time here")
    else:
        operations.prepare(works, nodes)
    return operations


def record(ledger: Path | None, lines: Iterable[Predicted]) -> None:
    """Append predictions to a ledger, or to the user's; a warning says why if that fails."""
    try:
        append_lines(ledger or usual_path(), list(lines))
    except MissingError as error:
        print_lines(console(), f"not recorded: {error}")
