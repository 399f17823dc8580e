# SPDX-License-Identifier: Apache-2.0
"""Runs as they are named where a verb takes a run, or one library of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.store.run import Run


def facts_of(places: Iterable[str | Path]) -> Facts:
    """The joint facts of several runs, each named as RUN or as RUN:LIBRARY.

    Raises InputError for a path that is no run, and for a library that its run does not have.
    """
    from nhalf.facts.facts import Facts

    sides = [run_and_library(place) for place in places]
    return Facts.of([run for run, _ in sides], [library for _, library in sides])


def run_and_library(place: str | Path, mpi: str = "") -> tuple[Run, str]:
    """The run of RUN or RUN:LIBRARY, and the library, which `mpi` may name instead.

    Raises InputError for a path that is no run, and if the library is named in both ways.
    """
    from nhalf.store.run import Run

    path, _, library = str(place).rpartition(":")
    if not path or Path(place).exists():
        return Run.open(Path(place)), mpi
    if mpi:
        raise InputError("a library is given twice", "use RUN:LIBRARY or --mpi, not both")
    return Run.open(Path(path)), library
