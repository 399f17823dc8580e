# SPDX-License-Identifier: Apache-2.0
"""Runs as they are named where a verb takes a run, or one library of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from nhalf.store.run import Run


def run_and_library(place: str | Path, mpi: str = "") -> tuple[Run, str]:
    """The run of RUN or RUN:LIBRARY, and the library, which `mpi` may name instead.

    Raises InputError for what is no run, and where the library is named in both ways.
    """
    from nhalf.store.run import Run

    path, _, library = str(place).rpartition(":")
    if not path or Path(place).exists():
        return Run.open(Path(place)), mpi
    if mpi:
        raise InputError("a library is given twice", "use RUN:LIBRARY or --mpi, not both")
    return Run.open(Path(path)), library
