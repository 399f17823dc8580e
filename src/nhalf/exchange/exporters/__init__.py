# SPDX-License-Identifier: Apache-2.0
"""Exporters: what nhalf knows, in the form that another program reads; one file, one program.

To add one, put a file into this folder: `NAME.py` with one class that derives from `Exporter`. It
is then `nhalf export --to NAME`; no other file changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.facts.program.program import Program
    from nhalf.machines.machine import Machine

Subject: TypeAlias = "Facts | Machine | Program | None"
"""What is exported: a run, a machine, a traced program or, where that makes sense, nothing."""

PACKAGE = "nhalf.exchange.exporters"


@dataclass(frozen=True)
class Asked:
    """What was asked for of a form that could be written in several ways; None and "": nothing."""

    mpi: str = ""
    pattern: str = ""
    ranks: int | None = None
    size_bytes: int | None = None


class Exporter(ABC):
    """Writes one form."""

    what: ClassVar[str]
    """One sentence: what is written, and for which program."""

    takes: ClassVar[frozenset[str]] = frozenset()
    """The members of `Asked` that this form applies; the others are refused before it is made."""

    is_folder: ClassVar[bool] = False
    """Whether it is a folder of files: it has no text, and `--out` names it."""

    def __init__(self, asked: Asked | None = None) -> None:
        self.asked = asked or Asked()

    @abstractmethod
    def text(self, subject: Subject) -> str:
        """The whole file, of a run, of a machine or, where that makes sense, of nothing.

        Raises InputError if something else is needed, or this one has not what is.
        """

    def write(self, subject: Subject, out: Path) -> None:
        """A folder of files, where it is one; raises as `text` does."""
        raise NotImplementedError


def the_facts(subject: Subject, form: str) -> Facts:
    """The facts of a form that needs measurements; raises InputError for anything else."""
    from nhalf.facts.facts import Facts

    if isinstance(subject, Facts):
        return subject
    raise InputError(f"{form} needs measurements", "name the directory of a run")


def the_machine(subject: Subject, form: str) -> Machine:
    """The machine of a form that needs one; that of a run is fitted.

    Raises InputError if nothing was named, or there is nothing to fit.
    """
    from nhalf.facts.facts import Facts
    from nhalf.machines.machine import Machine

    if isinstance(subject, Facts):
        return subject.machine
    if isinstance(subject, Machine):
        return subject
    raise InputError(f"{form} needs a run or a machine", "name its directory or its file")


def the_program(subject: Subject, form: str) -> Program:
    """The program of a form that needs a trace; raises InputError for anything else."""
    from nhalf.facts.program.program import Program

    if isinstance(subject, Program):
        return subject
    raise InputError(f"{form} needs a traced program", "name the folder of a trace")
