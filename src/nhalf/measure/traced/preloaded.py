"""Libraries to preload into a command, so that its MPI calls are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.discover import find, libraries, newest
from nhalf.mpi.preload import Preloaded, abi_library, own_library
from nhalf.mpi.program_file import ABI, CLASSIC, content_of, handles_in, program_named
from nhalf.mpi.surroundings import libraries_of_launcher

TRACE = Preloaded(
    *("library that traces", "libnhalf_trace.so", "trace", "trace/trace.cpp"),
    further={"trace/shared_calls.cpp": ("-O1",)},
)
NAME, TRY = "nhalf", "try"
TRIED_WITH = "mpich"
"""What `nhalf try` takes where none is named."""
_SEPARATORS = " \t\n:"


@dataclass(frozen=True)
class Tracing:
    """How a command is traced.

    `libraries` are preloaded into its programs, `names` are the MPI libraries that they serve, and
    `lacking` lists which programs cannot be traced, and why.
    """

    libraries: list[Path]
    names: str
    lacking: list[str]


def tracing_libraries(command: Sequence[str]) -> Tracing:
    """Return the libraries to preload into a command's programs.

    An MPI launcher or `nhalf try` determines the MPI library, and the program's file its kind of
    handles; otherwise one library for each kind of handles is preloaded, and all but the right one
    pass calls on. Raises MissingError if there is none.
    """
    installed = libraries()
    chosen = library_of_trial(command) or libraries_of_launcher(command[0], installed)
    chosen = chosen or newest(installed)
    if not chosen:
        raise MissingError("no MPI library was found", "install one: nhalf mpi install mpich")
    # One library for all with equal handles: compiled by one that is served, else by the newest.
    makers = [*chosen, *newest(installed), *installed]
    linked = kinds_of_handles(command)
    paths: dict[Path, None] = {}
    problems: dict[str, MissingError] = {}
    for library in chosen:
        own = f"programs built with the own header of {library.name}"
        for handles, make, served in (
            (ABI, _standard, "programs of the MPI standard ABI"),
            (CLASSIC, _own, own),
        ):
            if linked and handles not in linked:
                continue
            if handles == ABI and not library.abi:
                continue
            try:
                paths[make(library, makers)] = None
            except MissingError as error:
                problems[served] = error
    if not paths and problems:
        raise next(iter(problems.values()))
    for path in paths:
        _check_place(path)
    lacking = [f"{served} cannot be traced: {error}" for served, error in problems.items()]
    return Tracing(list(paths), ", ".join(library.name for library in chosen), lacking)


def _standard(library: Library, installed: Sequence[Library]) -> Path:
    return abi_library(TRACE)


def _own(library: Library, installed: Sequence[Library]) -> Path:
    return own_library(library, installed, TRACE)


def _check_place(path: Path) -> None:
    """Raises MissingError for a file that LD_PRELOAD cannot name."""
    if any(mark in str(path) for mark in _SEPARATORS):
        raise MissingError(
            f"LD_PRELOAD takes no file in a folder with blanks or colons: {path}",
            f"set {native_files.VARIABLE} or XDG_CACHE_HOME to another folder",
        )


def library_of_trial(command: Sequence[str]) -> list[Library]:
    """The library of `nhalf try`, if that is the command. Raises InputError if there is none."""
    words = list(command)
    if "--" in words:
        words = words[: words.index("--")]
    if Path(words[0]).name != NAME and words[2:3] != [NAME]:
        return []
    if TRY not in words:
        return []
    options = words[words.index(TRY) :]
    library_names = [word.partition("=")[2] for word in options if word.startswith("--mpi=")]
    library_names += [value for word, value in pairwise(options) if word == "--mpi"]
    return [find(library_names[-1] if library_names else TRIED_WITH)]


def kinds_of_handles(command: Sequence[str]) -> set[bytes]:
    """Return the kinds of handles that the programs of a command use; empty if unknown."""
    contents = (content_of(program_named(word)) for word in command[1:])
    return {kind for content in contents for kind in handles_in(content)}
