"""Exporters: nhalf's results in the formats of other programs; one file, one program.

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
"""The subject of an export: a run, a machine, a traced program or, for some formats, nothing."""

PACKAGE = "nhalf.exchange.exporters"


@dataclass(frozen=True)
class ExportOptions:
    """Options of formats that can be written in several ways; None and "" are not set."""

    mpi: str = ""
    pattern: str = ""
    ranks: int | None = None
    size_bytes: int | None = None


class Exporter(ABC):
    """Writes one format."""

    description: ClassVar[str]
    """One sentence: the content that is written, and the program it is for."""

    takes: ClassVar[frozenset[str]] = frozenset()
    """The members of `ExportOptions` that this format applies; others are refused."""

    is_folder: ClassVar[bool] = False
    """Whether the format is a folder of files, named by `--out`; it has no text."""

    def __init__(self, options: ExportOptions | None = None) -> None:
        self.options = options or ExportOptions()

    @abstractmethod
    def text(self, subject: Subject) -> str:
        """The text of the whole file.

        Raises InputError if the format needs another subject, or the subject lacks data.
        """

    def write(self, subject: Subject, out: Path) -> None:
        """Write a folder of files, if the format is one; raises the errors of `text`."""
        raise NotImplementedError


def the_facts(subject: Subject, form: str) -> Facts:
    """The facts for a format that needs measurements; raises InputError for anything else."""
    from nhalf.facts.facts import Facts

    if isinstance(subject, Facts):
        return subject
    raise InputError(f"{form} needs measurements", "name the directory of a run")


def the_machine(subject: Subject, form: str) -> Machine:
    """The machine for a format that needs one; that of a run is fitted.

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
    """The program for a format that needs a trace; raises InputError for anything else."""
    from nhalf.facts.program.program import Program

    if isinstance(subject, Program):
        return subject
    raise InputError(f"{form} needs a traced program", "name the folder of a trace")
