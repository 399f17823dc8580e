# SPDX-License-Identifier: Apache-2.0
"""The parts of the virtual network that are loaded into a program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.measure.traced.preloaded import kinds_of_handles
from nhalf.mpi import Library
from nhalf.mpi.preload import Preloaded, abi_library, own_library
from nhalf.mpi.program_file import ABI, CLASSIC

CALLS = Preloaded(
    "library of the virtual network", "libnhalf_fabric.so", "fabric", "fabric/calls.cpp"
)
PROVIDER = "libnhalf-fi.so"


def provider() -> Path:
    """The network itself; raises MissingError if it was not built."""
    path = native_files.native_folder() / "lib" / PROVIDER
    if not path.is_file():
        raise MissingError(
            f"the virtual network was not built: {PROVIDER} is not at {path}",
            "it needs libfabric's headers (Debian: libfabric-dev); then build nhalf again",
        )
    return path


def wrappers(
    library: Library, command: Sequence[str], installed: Sequence[Library]
) -> list[Path]:
    """The libraries that wrap the calls of a command's program: for its kind of handles, or all.

    Raises MissingError if there is none.
    """
    kinds = kinds_of_handles(["", *command]) or {ABI, CLASSIC}
    makers = []
    if ABI in kinds and library.abi:
        makers.append(lambda: abi_library(CALLS))
    if CLASSIC in kinds:
        makers.append(lambda: own_library(library, installed, CALLS))
    paths, problems = [], []
    for make in makers:
        try:
            paths.append(make())
        except MissingError as error:
            problems.append(error)
    if not paths:
        raise problems[0] if problems else MissingError(
            f"{library.name} does not load programs of the MPI standard ABI",
            "choose another library with --mpi",
        )
    return paths
