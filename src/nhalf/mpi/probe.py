"""Probes for an MPI library: whether its compiler links, compiled for it, found on this host."""

import functools
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import COMPILER_REMEDY, COMPILERS, CompiledProgram, compiled, is_compiled
from nhalf.base.errors import MissingError, NhalfError
from nhalf.base.native_files import why_not_described
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.transport_files import MPI, TransportFile
from nhalf.mpi.vendors import vendor_of

TIMEOUT_S = 60.0
COMPILER_MISSING = re.compile(
    r"command not found|: not found|unable to find the specified compiler"
)
"""Messages of compiler wrappers whose compiler is missing."""
SMALLEST_PROGRAM = "#include <mpi.h>\nint main() { return MPI_Init(nullptr, nullptr); }\n"


def compiler_here(missing: str) -> str:
    """The path of a C++ compiler; raises MissingError with the text `missing` if there is none."""
    path = next(filter(None, map(shutil.which, COMPILERS)), None)
    if path is None:
        raise MissingError(missing, COMPILER_REMEDY)
    return path


def sharing_first(libraries: Sequence[Library]) -> list[Library]:
    """Sort libraries, those of the system first, which are linked with the system's libraries.

    Wheels bring different versions of UCX and libfabric, which cannot be loaded beside the
    system's.
    """
    return sorted(libraries, key=lambda library: library.origin != "system")


def check_links(library: Library, transport: TransportFile, variables: dict[str, str]) -> None:
    """Raises MissingError if the libraries of a transport cannot be linked beside MPI."""
    assert library.compiler is not None
    command = (str(library.compiler), "-x", "c++", "-", "-o", os.devnull, "-Wl,--no-as-needed")
    reason = _why_not_linked((*command, *transport.links), tuple(variables.items()))
    if not reason:
        return
    title = f"transport {transport.name} cannot be started by {library.name}"
    if COMPILER_MISSING.search(reason):
        raise MissingError(f"transport {transport.name} needs a C++ compiler", COMPILER_REMEDY)
    if "undefined reference" in reason:
        raise MissingError(
            f"{title}, which brings other versions of {' '.join(transport.links)}",
            "choose a library of the system with --mpi",
        )
    raise MissingError(f"{title}: {reason}", f"apt-get install {transport.package}")


@functools.cache
def _why_not_linked(command: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> str:
    """The linker's error for a small program, '' if there is none."""
    outcome = run(command, TIMEOUT_S, dict(variables), SMALLEST_PROGRAM)
    if outcome.succeeded:
        return ""
    lines = outcome.stderr.splitlines()
    telling = [line for line in lines if COMPILER_MISSING.search(line)]
    telling += [line for line in lines if "cannot find" in line or "undefined reference" in line]
    return (telling or [outcome.reason])[0].removeprefix("/usr/bin/ld: ")


SOURCE = "probe/probe.cpp"
HELLO_SOURCE = "probe/hello.cpp"
FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "-pthread")


def probe_command(library: Library, transport: TransportFile = MPI) -> list[str]:
    """The command, without options, of the probe of a transport that a library starts.

    Raises MissingError if there is none and none can be compiled.
    """
    return [str(probe_executable(library, transport))]


def probe_executable(library: Library, transport: TransportFile = MPI) -> Path:
    """The standard-ABI probe if it works on the library, else one compiled for it.

    A transport that is linked with its own library is always compiled here. Compiling happens
    once per library, compiler and content of the headers. Raises MissingError if neither is
    available.
    """
    ready, why = ready_probe(library, transport)
    return ready or compiled(_program(library, transport, why))


def missing_probes(
    libraries: Iterable[Library], transport: TransportFile, *, one_suffices: bool
) -> Iterator[CompiledProgram]:
    """The probes that have to be compiled before libraries can start a transport.

    Libraries that cannot start it are passed over; if `one_suffices`, so are all after the first
    that can.
    """
    for library in libraries:
        with suppress(NhalfError):
            program = missing_probe(library, transport)
            if program:
                yield program
            if one_suffices:
                return


def missing_probe(library: Library, transport: TransportFile = MPI) -> CompiledProgram | None:
    """The probe that has to be compiled for a library and a transport, None if it is there.

    Raises MissingError if there is none and none can be compiled.
    """
    ready, why = ready_probe(library, transport)
    if ready:
        return None
    program = _program(library, transport, why)
    return None if is_compiled(program) else program


def quick_probe(library: Library) -> tuple[Path, bool]:
    """A program to test in a second whether ranks of a library communicate.

    It is the probe, which the second value tells, or a small program if the probe would have to
    be compiled first, which takes a minute. Raises MissingError like `probe_executable`.
    """
    ready, why = ready_probe(library, MPI)
    if ready:
        return ready, True
    program = _program(library, MPI, why)
    if is_compiled(program):
        return compiled(program), True
    command = [word for word in program.command if word not in FLAGS or word.startswith("-std")]
    hello = replace(
        program,
        title=f"a test of {library.name}",
        name="hello",
        source=HELLO_SOURCE,
        command=command,
        why_not=lambda _: "",
    )
    return compiled(hello), False


def ready_probe(library: Library, transport: TransportFile) -> tuple[Path | None, str]:
    """The probe that came with nhalf if it works on the library, else why it does not."""
    if transport.links:
        return None, f"transport {transport.name} is compiled on the machine that has its library"
    if not library.abi:
        return None, f"{library.name} does not load programs built for the MPI standard ABI"
    try:
        path = native_files.executable(f"{transport.executable}-abi")
    except MissingError as error:
        return None, error.message
    reason = why_not_described([str(path)], library.environment)
    return (None, reason) if reason else (path, "")


def flags_of_the_user() -> list[str]:
    """What CXXFLAGS adds to a compiler's command, as with make and CMake."""
    return os.environ.get("CXXFLAGS", "").split()


def _program(library: Library, transport: TransportFile, why: str) -> CompiledProgram:
    """The probe as a library's own wrapper compiles it; `why` is the reason for compiling."""
    compiler = library.compiler
    if compiler is None:
        raise MissingError(
            f"no probe runs on {library.name}: {why}",
            "it has no C++ compiler wrapper (mpicxx) either; install its development files",
        )
    variables = compiler_variables(library)
    if transport.links:
        check_links(library, transport, {**library.environment, **variables})
    wrapped = shutil.which(next(iter(variables.values()), "c++").split()[0])
    header = f'-DNHALF_TRANSPORT_HEADER="{transport.header}"'
    own = [*transport.flags] if transport.source else [header, *transport.flags, *transport.links]
    flags = [*FLAGS, *flags_of_the_user()]
    tools = [compiler.resolve(), Path(wrapped).resolve() if wrapped else Path()]
    return CompiledProgram(
        title=f"{transport.title} for {library.name}",
        name=transport.executable,
        folder=f"probes/{library.vendor}-{library.version}",
        source=transport.source or SOURCE,
        command=[str(compiler), *flags, *own, "-ldl"],
        why_not=lambda path: why_not_described([str(path)], library.environment),
        variables={**library.environment, **variables},
        neutral=of_running(library.environment),
        parts=[library.version, str(library.prefix), *stamps_of(tools)],
        remedy=f"install {transport.package}" if transport.package else "",
    )


def of_running(environment: Mapping[str, str]) -> list[str]:
    """The variables that a library needs to run, and that change nothing when it compiles.

    Which there are depends on those that are set, as within a job of Open MPI.
    """
    return [name for name in environment if "_MCA_" in name or name == "OPAL_PREFIX"]


def compiler_variables(library: Library) -> dict[str, str]:
    """The variables with which a wrapper finds a C++ compiler.

    Raises MissingError if there is no compiler on PATH.
    """
    variable = vendor_of(library).compiler_variable
    chosen_compiler = os.environ.get(variable, "")
    if chosen_compiler:
        return {variable: chosen_compiler}
    for name in COMPILERS:
        if shutil.which(name):
            # Wheels' wrappers call c++, which minimal machines have under another name only.
            return {} if name == "c++" or not variable else {variable: name}
    raise MissingError(
        f"{library.name} needs a probe compiled for it, and there is no C++ compiler",
        COMPILER_REMEDY,
    )


FLAGS_BY_NEED: dict[str, tuple[str, ...]] = {"": (), "Threads": (), "OpenMP": ("-fopenmp",)}
"""What a program that can be compiled here may need, with the compiler's flags for it."""


def local_executable(file: TransportFile) -> Path:
    """The program of a transport, or of an application, that starts its own ranks.

    Raises MissingError if it did not come with nhalf and cannot be compiled.
    """
    if file.needs not in FLAGS_BY_NEED or came_with_nhalf(file):
        return native_files.executable(file.executable)
    return compiled(_compiled_program(file))


def came_with_nhalf(file: TransportFile) -> bool:
    """Whether the program of a transport, or of an application, was built with nhalf."""
    for suffix in ("", "-abi"):
        with suppress(MissingError):
            native_files.executable(f"{file.executable}{suffix}")
            return True
    return False


def missing_programs(files: Iterable[TransportFile]) -> Iterator[CompiledProgram]:
    """The programs that have to be compiled before these start their ranks."""
    for file in files:
        if file.needs not in FLAGS_BY_NEED or came_with_nhalf(file):
            continue
        with suppress(MissingError):
            program = _compiled_program(file)
            if not is_compiled(program):
                yield program


def _compiled_program(file: TransportFile) -> CompiledProgram:
    """How the program is compiled. Raises MissingError without a compiler."""
    compiler = compiler_here(f"{file.title} has to be compiled, and there is no C++ compiler")
    own = file.flags if file.source else (f'-DNHALF_TRANSPORT_HEADER="{file.header}"',)
    flags = [*FLAGS, *flags_of_the_user(), *FLAGS_BY_NEED[file.needs], *own]
    return CompiledProgram(
        title=file.title,
        name=file.executable,
        folder="probes/local",
        source=file.source or SOURCE,
        command=[compiler, *flags, "-ldl"],
        why_not=lambda path: why_not_described([str(path)]),
        parts=stamps_of([Path(compiler).resolve()]),
    )
