"""Whether a transport's libraries are installed, and can be linked alongside an MPI library."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence

from nhalf.base.compiled import COMPILER_REMEDY
from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.transport_files import TransportFile

TIMEOUT_S = 60.0
COMPILER_MISSING = re.compile(
    r"command not found|: not found|unable to find the specified compiler"
)
"""Messages of compiler wrappers whose compiler is missing."""
SOURCE = "#include <mpi.h>\nint main() { return MPI_Init(nullptr, nullptr); }\n"


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
    outcome = run(command, TIMEOUT_S, dict(variables), SOURCE)
    if outcome.succeeded:
        return ""
    lines = outcome.stderr.splitlines()
    telling = [line for line in lines if COMPILER_MISSING.search(line)]
    telling += [line for line in lines if "cannot find" in line or "undefined reference" in line]
    return (telling or [outcome.reason])[0].removeprefix("/usr/bin/ld: ")
