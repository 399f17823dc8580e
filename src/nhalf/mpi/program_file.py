"""Detect from a program's file which MPI library it needs, and thus which handles it has.

Preloading into programs with sanitizers.

The runtime of AddressSanitizer refuses to run behind a preloaded library. Those of nhalf define
nothing that it has to define first, and which programs a launcher or a script starts is not known
before, so it is told not to look.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

ELF = b"\x7fELF"
ABI, CLASSIC = b"libmpi_abi.so", b"libmpi.so"
"""The library of the MPI standard ABI, and one with handles of its own."""
FORTRAN = {
    b"libmpifort_abi.so": ABI,
    **dict.fromkeys((b"libmpifort.so", b"libmpichfort.so", b"libmpi_mpifh.so"), CLASSIC),
}
"""Programs in Fortran may name the library for that language alone."""


def program_named(word: str) -> Path:
    """The file that a word of a command names, whether or not it exists."""
    return Path(word) if "/" in word else Path(shutil.which(word) or "")


def content_of(path: Path) -> bytes:
    """The content of a program or shared library; empty if it is none or cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            magic = file.read(len(ELF))
            return magic + file.read() if magic == ELF else b""
    except OSError:
        return b""


def handles_in(content: bytes) -> set[bytes]:
    """ABI or CLASSIC, by the libraries that a program names; empty if it names none of MPI."""
    if ABI in content:
        return {ABI}
    if CLASSIC in content:
        return {CLASSIC}
    return {kind for name, kind in FORTRAN.items() if name in content}


VARIABLE = "ASAN_OPTIONS"
RUNTIMES = (b"libasan.so", b"libclang_rt.asan")
_BEHIND = "verify_asan_link_order=0"


def sanitizer_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with which sanitized programs take preloaded libraries.

    What the environment says already comes last and counts.
    """
    return {VARIABLE: ":".join(filter(None, [_BEHIND, environment.get(VARIABLE, "")]))}


def has_runtime(content: bytes) -> bool:
    """Whether a program's file names a runtime that would refuse."""
    return any(name in content for name in RUNTIMES)
