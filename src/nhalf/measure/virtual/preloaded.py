"""The parts of the virtual network that are loaded into a program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import COMPILER_REMEDY, COMPILERS, CompiledProgram, compiled
from nhalf.base.errors import MissingError
from nhalf.measure.traced.preloaded import kinds_of_handles
from nhalf.mpi import Library
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.preload import FLAGS, Preloaded, abi_library, own_library
from nhalf.mpi.program_file import ABI, CLASSIC

# In virtual time no call is faster for being optimised.
CALLS = Preloaded(
    "library of the virtual network", "libnhalf_fabric.so", "fabric", "fabric/calls.cpp", ("-O1",)
)
PROVIDER = "libnhalf-fi.so"


def provider() -> Path:
    """The network itself: built with nhalf where libfabric's headers were, else compiled once.

    Raises MissingError if neither is possible.
    """
    path = native_files.native_folder() / "lib" / PROVIDER
    if path.is_file():
        return path
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise MissingError("the virtual network has to be compiled", COMPILER_REMEDY)
    return compiled(
        CompiledProgram(
            title="the virtual network",
            name=PROVIDER,
            folder="fabric/provider",
            source="fabric/provider.cpp",
            command=[compiler, *FLAGS],
            why_not=lambda path: "" if path.is_file() else "there is no file",
            parts=stamps_of([Path(compiler).resolve()]),
            remedy="it needs libfabric's headers: install libfabric-dev",
        )
    )


def wrappers(library: Library, command: Sequence[str], installed: Sequence[Library]) -> list[Path]:
    """The libraries that wrap the calls of a command's program: for its kind of handles, or all.

    Raises MissingError if there is none.
    """
    kinds = kinds_of_handles(["", *command]) or {ABI, CLASSIC}
    paths: list[Path] = []
    problems: list[MissingError] = []
    if ABI in kinds and library.abi:
        paths.append(abi_library(CALLS))
    if CLASSIC in kinds:
        try:
            paths.append(own_library(library, installed, CALLS))
        except MissingError as error:
            problems.append(error)
    if not paths:
        raise (
            problems[0]
            if problems
            else MissingError(
                f"{library.name} does not load programs of the MPI standard ABI",
                "choose another library with --mpi",
            )
        )
    return paths
