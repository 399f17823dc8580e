# SPDX-License-Identifier: Apache-2.0
"""Vendors: one file holds everything nhalf knows about one MPI library.

How it is recognised, installed, set up, started and bound, and how its collective operations are
tuned. To add a library, put a file into this folder, with the name that `nhalf mpi list` should
show: one class that derives from `Vendor`, and its tuner if it has one. No other file changes.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nhalf.base import plugins
from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.job import Launcher
from nhalf.mpi.tuner import Tuner

PACKAGE = "nhalf.mpi.vendors"


@dataclass(frozen=True)
class Wheel:
    """A library in the package index: its package there, the version known to work, other names."""

    package: str
    version: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A library that the environment names, such as that of a loaded module."""

    prefix: Path
    version: str


class Vendor(Launcher):
    """One MPI library. As a launcher it is its own `mpiexec`."""

    title: ClassVar[str]
    """Its usual name."""

    launcher: ClassVar[str]
    """The name of its mpiexec in `--launcher`; libraries of one family share it."""

    asked: ClassVar[tuple[str, ...]] = ()
    """A program beside its mpiexec that is asked, too, where `--version` does not tell enough."""

    turn: ClassVar[int] = 0
    """The order in which vendors try to identify an mpiexec: derived libraries come first."""

    wheel: ClassVar[Wheel | None] = None
    """Where `nhalf mpi install` gets it from, None if there is no wheel."""

    compiler_variable: ClassVar[str] = ""
    """The variable that tells its mpicxx which compiler to call, '' if there is none."""

    linked_as: ClassVar[str] = "libmpi"
    """How programs that were built with its own header name the library that they need."""

    handles_of: ClassVar[str] = ""
    """The vendor whose header has the same handles, so that its mpicxx serves for this one."""

    pmi: ClassVar[tuple[str, ...]] = ()
    """The process management that it speaks unless it was built otherwise: see `speaks`."""

    folders: ClassVar[tuple[str, ...]] = ()
    """Where it keeps shared objects beside lib and lib64, below its prefix."""

    @abstractmethod
    def version_in(self, text: str) -> str:
        """The version, where `mpiexec --version` of this library printed the text; else ''.

        What the program `asked` printed comes after it.
        """

    def loaded(self) -> Loaded | None:
        """The library that a module names, for vendors whose libraries have no mpiexec."""
        return None

    def compiler(self, prefix: Path) -> Path | None:
        """Its C++ compiler wrapper, where that is not an mpicxx beside its mpiexec."""
        return None

    def variables(self, prefix: Path) -> dict[str, str]:
        """What its programs need beside LD_LIBRARY_PATH, complete values."""
        return {}

    def tuner(self, library: Library, form: str = "") -> Tuner | None:
        """Its algorithms and its tuning file, None if it cannot be tuned.

        `form` is one of the file's forms, '' for the usual one.
        """
        return None

    def speaks(self, library: Library) -> tuple[str, ...]:
        """The process management that it can speak, as `srun --mpi` names it, best first.

        None if nobody knows, which leaves the choice to Slurm.
        """
        return self.pmi

    def variables_under(self, launcher: str, pmi: str) -> dict[str, str]:
        """What they need beside these under a launcher, with a kind of process management.

        `launcher` is '' for its own, `pmi` '' for what the launcher chooses. Raises MissingError if
        that cannot be had.
        """
        return {}


@functools.cache
def vendors() -> dict[str, Vendor]:
    """Every vendor by name, in the order in which they are asked."""
    found: dict[str, type[Vendor]] = plugins.load(PACKAGE, Vendor)
    return {name: found[name]() for name in sorted(found, key=lambda name: found[name].turn)}


def vendor_of(library: Library) -> Vendor:
    """The vendor of a library; raises MissingError if its file is gone."""
    if library.vendor not in vendors():
        raise MissingError(
            f"nothing is known of {library.vendor}, the vendor of {library.name}",
            f"known are {', '.join(vendors())}",
        )
    return vendors()[library.vendor]


def libraries_in(said: str, names: Iterable[str]) -> list[str]:
    """Those of some libraries by name that a version text of MPI_Get_library_version can be of.

    The vendor is known by its usual name, the version by its number; where none has the number
    (vendors shorten it), all of the vendor.
    """
    said = said.replace("(R)", "")
    letters = said.casefold()
    vendor = next((n for n, each in vendors().items() if each.title.casefold() in letters), None)
    same = [name for name in names if vendor is not None and name.startswith(f"{vendor}-")]
    numbered = [name for name in same if name.removeprefix(f"{vendor}-").partition("+")[0] in said]
    return numbered or same
