"""SimGrid's SMPI: whether it is installed, and nhalf's programs that are compiled for it.

They are the probe with the simulated transport, and a plug-in that builds any machine from its
description, so that no machine needs its own compiler.
"""

import ctypes.util
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base.compiled import CompiledProgram, compiled
from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.probe import compiler_here, flags_of_the_user
from nhalf.mpi.transport_files import TransportFile

REMEDY = "install SimGrid 3.32 with its headers, such as apt-get install libsimgrid-dev"
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG")
INSPECT_TIMEOUT_S = 20.0

SETTINGS = {
    "smpi/simulate-computation": "no",  # our own work between two calls takes no time
    "smpi/wtime": "0",
    "smpi/init": "0",
    "network/TCP-gamma": "0",  # no window of TCP bounds a rate
    "network/crosstraffic": "0",  # nothing is said against the direction of a message
    "contexts/stack-size": "1024",
    "smpi/shared-malloc-blocksize": "16777216",
}
"""SMPI options for every machine: its defaults are meant for different networks."""


@dataclass(frozen=True)
class SimGrid:
    """Paths of the required parts of SimGrid."""

    smpirun: Path
    smpicxx: Path
    compiler: str
    library: str


def simgrid() -> SimGrid:
    """The SimGrid of this machine; raises MissingError if it, or a compiler, is missing."""
    library = ctypes.util.find_library("simgrid")
    programs = {name: shutil.which(name) for name in ("smpirun", "smpicxx")}
    absent = [name for name, path in programs.items() if path is None]
    if library is None or absent:
        missing = " and ".join(absent) or "its library"
        verb = "are" if len(absent) > 1 else "is"
        raise MissingError(f"simulations need SimGrid: {missing} {verb} not installed", REMEDY)
    compiler = compiler_here("the simulator must be compiled once, and no C++ compiler was found")
    return SimGrid(
        Path(programs["smpirun"] or ""), Path(programs["smpicxx"] or ""), compiler, library
    )


def programs(parts: SimGrid) -> list[CompiledProgram]:
    """What simulations need, as it is compiled."""
    return [_probe(parts), _platform(parts)]


def probe(parts: SimGrid) -> Path:
    """The probe whose messages SMPI simulates; compiled if it is not in the cache."""
    return compiled(_probe(parts))


def _probe(parts: SimGrid) -> CompiledProgram:
    header = '-DNHALF_TRANSPORT_HEADER="transports/simulated.hpp"'
    return _program(
        parts,
        "the probe of simulated machines",
        ("simulator/probe", "probe-simulated"),
        "probe/probe.cpp",
        [str(parts.smpicxx), *FLAGS, *flags_of_the_user(), header],
    )


def application(parts: SimGrid, program: TransportFile) -> Path:
    """The program of an application for SMPI; compiled if it is not in the cache."""
    application = _program(
        parts,
        f"{program.title} of simulated machines",
        (f"simulator/{program.name}", program.name),
        program.source,
        [str(parts.smpicxx), *FLAGS, "-O3", *flags_of_the_user(), *program.flags],
    )
    return compiled(application)


def platform(parts: SimGrid) -> Path:
    """The plug-in that builds a platform from a description; compiled if it is not in the cache."""
    return compiled(_platform(parts))


def _platform(parts: SimGrid) -> CompiledProgram:
    command = [parts.compiler, *FLAGS, *flags_of_the_user(), "-fPIC", "-shared", "-lsimgrid"]
    place, source = ("simulator/platform", "platform.so"), "simulator/platform.cpp"
    program = _program(parts, "the platform of simulated machines", place, source, command)
    return replace(program, why_not=_why_no_library)


def _program(
    parts: SimGrid, title: str, place: tuple[str, str], source: str, command: list[str]
) -> CompiledProgram:
    """A program by its folder and name in the cache, with what its file there depends on."""
    folder, name = place
    stamps = [parts.library, *stamps_of([parts.smpirun, Path(parts.compiler).resolve()])]
    return CompiledProgram(
        title, name, folder, source, command, why_not=_why_no_probe, parts=stamps, remedy=REMEDY
    )


def _why_no_probe(path: Path) -> str:
    """Why the probe's file is no program; '' if it is one."""
    return "" if path.stat().st_size else "the compiler wrote nothing"


def _why_no_library(path: Path) -> str:
    outcome = run(["nm", "-D", "--defined-only", str(path)], INSPECT_TIMEOUT_S)
    if outcome.succeeded and "load_platform" not in outcome.stdout:
        return "it does not define load_platform"
    return ""
