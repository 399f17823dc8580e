"""Whether a program of the C++ side is installed: tests that need one are skipped without it."""

from __future__ import annotations

from nhalf.base import native_files
from nhalf.base.errors import NhalfError


def is_built(name: str) -> bool:
    """Whether a probe or another program is there, such as 'probe-mpi-abi'."""
    try:
        return native_files.executable(name).is_file()
    except NhalfError:
        return False
