# SPDX-License-Identifier: Apache-2.0
"""Why nothing was traced of a command, as far as the files of its programs tell."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nhalf.mpi import Library
from nhalf.mpi.program_file import ABI, CLASSIC, content_of, program_named
from nhalf.mpi.vendors import vendor_of

INTERPRETER = 3
"""The kind of a program header that names what loads libraries (elf.h: PT_INTERP)."""
USUAL = "is it a program of MPI that calls MPI_Init?"


def reason(command: Sequence[str], known: Iterable[Library]) -> str:
    """What is known to be in the way; USUAL where nothing is."""
    libraries = list(known)
    launcher = _launcher(command, libraries)
    for path, content in _programs(command):
        if not _has_interpreter(content):
            return f"{path} is statically linked, so no library can be loaded before its own"
        if launcher is not None and (other := _another(content, launcher, libraries)):
            return f"{path} is linked with {other}, and {command[0]} starts {launcher.name}"
    return USUAL


def _programs(command: Sequence[str]) -> Iterator[tuple[Path, bytes]]:
    """The words that name programs; the first of several is the launcher."""
    for word in command[1:] or command:
        path = program_named(word)
        content = content_of(path)
        if content and path.name != "env":
            yield path, content


def _has_interpreter(content: bytes) -> bool:
    """Whether a program of 64 bits names what loads its libraries; others are taken to do so."""
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


def _launcher(command: Sequence[str], known: Iterable[Library]) -> Library | None:
    found = shutil.which(command[0])
    path = Path(found or command[0]).resolve()
    return next((one for one in known if one.mpiexec and one.mpiexec.resolve() == path), None)


def _another(content: bytes, launcher: Library, known: Sequence[Library]) -> str:
    """The vendor that a program is linked with where that is not the launcher's; else ''."""
    if ABI in content or CLASSIC not in content:
        return ""
    fitting = [one for one in map(vendor_of, known) if one.linked_as.encode() in content]
    # Some name their library by less than others, which is in the names of those, too.
    best = max(fitting, key=lambda one: len(one.linked_as), default=None)
    is_own = best is None or best.linked_as == vendor_of(launcher).linked_as
    return "" if best is None or is_own else best.title
