"""Compile ahead what the first use would compile: the probes of all transports, and more."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from nhalf.base.compiled import CompiledProgram, compile_ahead, compiled, is_compiled
from nhalf.base.errors import NhalfError
from nhalf.mpi import Library
from nhalf.mpi.probe import (
    local_executable,
    missing_probe,
    missing_programs,
    probe_executable,
    sharing_first,
)
from nhalf.mpi.transport_files import TransportFile, loaded_variables, transport_files
from nhalf.sites.examine import ABSENT, DOUBT, GOOD, ExaminedItem, if_works
from nhalf.sites.start import cores

READY, BUILT = "ready", "built"


State = CompiledProgram | NhalfError | None
"""A program to compile, None if it was compiled before, or why there is none."""
Further = Mapping[str, Mapping[str, CompiledProgram | NhalfError]]
"""Programs beside the probes, by what they are and whom they serve, or why there are none."""


def build(libraries: Sequence[Library], further: Further | None = None) -> Iterator[ExaminedItem]:
    """Compile everything that is missing, one on each core, then yield a finding per transport.

    A transport that carries its own data needs a probe for the first library that starts it;
    others have one for each library. Findings on `further` programs come last.
    """
    files = transport_files().values()
    transports = [file for file in files if file.started_by_mpi]
    plans = {transport.name: _planned(libraries, transport) for transport in transports}
    local = [file for file in files if not file.started_by_mpi]
    extra = {
        name: {whom: _missing(program) for whom, program in programs.items()}
        for name, programs in (further or {}).items()
    }
    missing = [state for plan in (*plans.values(), *extra.values()) for state in plan.values()]
    missing += missing_programs(local)
    compile_ahead((state for state in missing if isinstance(state, CompiledProgram)), cores())
    for file in local:
        yield if_works(f"probe {file.name}", partial(_ready, file))
    by_name = {library.name: library for library in libraries}
    for transport in transports:
        plan = plans[transport.name]
        states = {name: _built(by_name[name], transport, plan[name]) for name in plan}
        yield _finding(f"probe {transport.name}", states)
    for name, plan in extra.items():
        yield _finding(name, {whom: _compiled(state) for whom, state in plan.items()})


def _ready(file: TransportFile) -> str:
    """Make sure that there is the probe of a transport that starts its own ranks."""
    local_executable(file)
    return READY


def _missing(program: CompiledProgram | NhalfError) -> State:
    if isinstance(program, NhalfError):
        return program
    try:
        return None if is_compiled(program) else program
    except NhalfError as error:
        return error


def _compiled(planned: State) -> str | NhalfError:
    if not isinstance(planned, CompiledProgram):
        return planned or READY
    try:
        compiled(planned)
    except NhalfError as error:
        return error
    return BUILT


def _planned(libraries: Sequence[Library], transport: TransportFile) -> dict[str, State]:
    """The state of the probe by library."""
    states: dict[str, State] = {}
    for library in sharing_first(libraries) if transport.links else libraries:
        try:
            loaded_variables(transport)
            states[library.name] = missing_probe(library, transport)
        except NhalfError as error:
            states[library.name] = error
            continue
        if not transport.carried_by_mpi:
            return {library.name: states[library.name]}
    return states


def _built(library: Library, transport: TransportFile, planned: State) -> str | NhalfError:
    """Whether the probe was ready or has been built, or the error that tells why neither."""
    if planned is None:
        return READY
    if isinstance(planned, NhalfError):
        return planned
    try:
        probe_executable(library, transport)
    except NhalfError as error:
        return error
    return BUILT


def _finding(name: str, states: dict[str, str | NhalfError]) -> ExaminedItem:
    """The finding on programs of one kind: for which libraries they are there."""
    texts = []
    for state in (READY, BUILT):
        names = [library for library in states if states[library] == state]
        if names:
            texts.append(f"{state} for {', '.join(names)}")
    errors = {name: error for name, error in states.items() if isinstance(error, NhalfError)}
    if not states:
        return ExaminedItem(name, ABSENT, "no MPI library starts it", "nhalf mpi install mpich")
    if not errors:
        return ExaminedItem(name, GOOD, "; ".join(texts))
    reasons = dict.fromkeys(error.message for error in errors.values())
    remedies = dict.fromkeys(error.remedy for error in errors.values() if error.remedy)
    state = DOUBT if texts else ABSENT
    return ExaminedItem(name, state, "; ".join([*texts, *reasons]), "; ".join(remedies))
