"""Why nothing of a command was traced, according to the files of its programs."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nhalf.mpi import Library
from nhalf.mpi.program_file import ABI, CLASSIC, content_of, handles_in, program_named
from nhalf.mpi.vendors import vendor_of

INTERPRETER = 3
"""Type of the program header that names the dynamic loader (elf.h: PT_INTERP)."""
SHARED_LIBRARY = re.compile(r"\.so(\.|$)")
SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "make")
"""They start programs, and may load modules."""
TAKERS = (b"\0dlsym\0", b"\0libpython", b"\0libperl.so", b"\0libjulia.so", b"\0libjli.so")
"""In programs that may take functions from what they open, by themselves or by an interpreter."""
USUAL = "is it a program of MPI that calls MPI_Init?"


def reason(command: Sequence[str], installed: Iterable[Library]) -> str:
    """Return the reason why a command could not be traced; USUAL if none is known."""
    libraries = list(installed)
    launcher = _launcher(command, libraries)
    for path, content in _programs(command):
        if not _has_interpreter(content):
            return f"{path} is statically linked, so no library can be loaded before its own"
        if _takes_functions(path, content):
            return (
                f"{path} is linked with no MPI library; if it opens one by itself (dlopen) and "
                "takes functions from it (dlsym), no tool comes between"
            )
        if launcher is not None and (vendor_title := _another(content, launcher, libraries)):
            return f"{path} is linked with {vendor_title}, and {command[0]} starts {launcher.name}"
    return USUAL


def _programs(command: Sequence[str]) -> Iterator[tuple[Path, bytes]]:
    """Yield the programs that a command names, without a launcher before them."""
    for word in command[1:] or command:
        path = program_named(word)
        content = b"" if SHARED_LIBRARY.search(path.name) else content_of(path)
        if content and path.name != "env":
            yield path, content


def _takes_functions(path: Path, content: bytes) -> bool:
    """Whether a program that names no MPI library may take functions from any that it opens, as
    interpreters do.
    """
    is_taker = any(name in content for name in TAKERS)
    return is_taker and not handles_in(content) and path.name not in SHELLS


def _has_interpreter(content: bytes) -> bool:
    """Whether a 64-bit program names a dynamic loader; any other is assumed to do so."""
    if len(content) < 64 or content[4] != 2:
        return True
    order = "<" if content[5] == 1 else ">"
    at, size, number = (
        struct.unpack_from(f"{order}Q", content, 32)[0],
        *struct.unpack_from(f"{order}HH", content, 54),
    )
    places = range(at, min(at + size * number, len(content) - 4), max(1, size))
    return any(
        struct.unpack_from(f"{order}I", content, place)[0] == INTERPRETER for place in places
    )


def _launcher(command: Sequence[str], installed: Iterable[Library]) -> Library | None:
    program = shutil.which(command[0])
    path = Path(program or command[0]).resolve()
    return next(
        (library for library in installed if library.mpiexec and library.mpiexec.resolve() == path),
        None,
    )


def _another(content: bytes, launcher: Library, libraries: Sequence[Library]) -> str:
    """Return the vendor of a program's library if it differs from the launcher's; else ''."""
    if ABI in content or CLASSIC not in content:
        return ""
    fitting = [
        vendor for vendor in map(vendor_of, libraries) if vendor.linked_as.encode() in content
    ]
    # The library name of one vendor may be part of another's: the longest match counts.
    best = max(fitting, key=lambda vendor: len(vendor.linked_as), default=None)
    is_own = best is None or best.linked_as == vendor_of(launcher).linked_as
    return "" if best is None or is_own else best.title
