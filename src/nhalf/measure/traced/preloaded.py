# SPDX-License-Identifier: Apache-2.0
"""Which libraries a command is started with, so that its MPI calls are counted."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.preload import Preloaded, abi_library, own_library
from nhalf.mpi.program_file import ABI, CLASSIC, content_of, handles_in, program_named

TRACE = Preloaded("library that traces", "libnhalf_trace.so", "trace", "trace/trace.cpp")
LAUNCHERS = ("mpiexec", "mpirun", "prterun", "orterun")
_SEPARATORS = " \t\n:"


@dataclass(frozen=True)
class Tracing:
    """What a command is traced with.

    `libraries` are loaded before its programs, `names` are those of the MPI libraries that they
    serve, and `lacking` says which programs cannot be traced, and why.
    """

    libraries: list[Path]
    names: str
    lacking: list[str]


def tracing_libraries(command: Sequence[str]) -> Tracing:
    """The libraries to load before a command's programs.

    A launcher of MPI tells the library, and the program's file which handles it has; otherwise
    there is one library for each kind of handles, and all but the right one step aside: calls go
    past them. Raises MissingError if there is none.
    """
    known = libraries()
    chosen = _of_launcher(command, known) or newest(known)
    if not chosen:
        raise MissingError("no MPI library was found", "install one: nhalf mpi install mpich")
    linked = kinds_of_handles(command)
    found: dict[Path, None] = {}
    problems: dict[str, MissingError] = {}
    for library in chosen:
        own = f"programs built with the own header of {library.name}"
        for wanted, make, served in (
            (ABI, _standard, "programs of the MPI standard ABI"),
            (CLASSIC, _own, own),
        ):
            if linked and wanted not in linked:
                continue
            if wanted == ABI and not library.abi:
                continue
            try:
                found[make(library, known)] = None
            except MissingError as error:
                problems[served] = error
    if not found and problems:
        raise next(iter(problems.values()))
    for path in found:
        _check_place(path)
    lacking = [f"{served} cannot be traced: {error}" for served, error in problems.items()]
    return Tracing(list(found), ", ".join(library.name for library in chosen), lacking)


def _standard(library: Library, known: Sequence[Library]) -> Path:
    return abi_library(TRACE)


def _own(library: Library, known: Sequence[Library]) -> Path:
    return own_library(library, known, TRACE)


def _check_place(path: Path) -> None:
    """Raises MissingError for a file that LD_PRELOAD cannot name."""
    if any(mark in str(path) for mark in _SEPARATORS):
        raise MissingError(
            f"LD_PRELOAD takes no file in a folder with blanks or colons: {path}",
            f"set {native_files.VARIABLE} or XDG_CACHE_HOME to another folder",
        )


def _of_launcher(command: Sequence[str], known: Sequence[Library]) -> list[Library]:
    """The libraries whose launcher a command is; none if it is something else.

    A library may have several launchers, and several libraries may have theirs in one folder.
    """
    found = shutil.which(command[0])
    if found is None or not Path(command[0]).name.startswith(LAUNCHERS):
        return []
    path = Path(found).resolve()
    folders = {path.parent, Path(found).parent.resolve()}
    launchers = [(one, one.mpiexec.resolve()) for one in known if one.mpiexec]
    same_file = [one for one, own in launchers if own == path]
    return same_file[:1] or [one for one, own in launchers if own.parent in folders]


def kinds_of_handles(command: Sequence[str]) -> set[bytes]:
    """Which kinds of handles the programs of a command have; empty if no file tells."""
    contents = (content_of(program_named(word)) for word in command[1:])
    return {kind for content in contents for kind in handles_in(content)}
