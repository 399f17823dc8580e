# SPDX-License-Identifier: Apache-2.0
"""The interface of a tuner: a library's own algorithms, and its tuning file.

The tuner of a library is in the file of its vendor (mpi/vendors), that of nhalf's own table in
mpi/tuning.py.

A decision is a list of `nhalf.mpi.decision_table.Rule` whose algorithms are the library's names;
sizes are nhalf's (message, vector or one block), which a tuner converts to those of its library.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from nhalf.base.errors import FailedError, InputError, unknown
from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule

Reach = Literal["rules", "operations", "collectives"]
"""What a file may change: calls that its rules cover, all calls of their operations, or those of
all collective operations."""


class Tuner(ABC):
    """The algorithms of one library, and how to select them."""

    description: ClassVar[str]
    """One sentence: the library, and the file that is written."""

    forms: ClassVar[dict[str, str]]
    """The forms of the file by name, each with its file name; the first is usual."""

    def __init__(self, library: Library, form: str = "") -> None:
        self.library = library
        if form and form not in self.forms:
            raise unknown(f"form of {library.vendor}'s file", form, self.forms)
        self.form = form or self.usual_form()

    def usual_form(self) -> str:
        """The form that this version of the library reads best."""
        return next(iter(self.forms))

    @property
    def file_name(self) -> str:
        """The name of the written file."""
        return self.forms[self.form]

    @property
    def keeps_own(self) -> bool:
        """Whether calls without a rule keep the library's own choice where others have one."""
        return True

    def reach(self, *, on_one_host: bool) -> Reach:
        """What a file may change, whatever its rules are for."""
        return "rules" if self.keeps_own else "collectives"

    @abstractmethod
    def algorithms(self, operation: str) -> list[str]:
        """The names of the library's algorithms for an operation; none if it has no choice."""

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether an algorithm works with this many ranks."""
        return bool(operation and algorithm and ranks)

    def differs(self, operation: str, algorithm: str, size_bytes: int) -> bool:
        """Whether an algorithm does anything else at this size than another one before it."""
        return bool(operation and algorithm) and size_bytes >= 0

    @abstractmethod
    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variables that force these algorithms of operations for all sizes and ranks."""

    def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
        """What the file can hold of rules, with the ranks and sizes for which it then holds."""
        return list(rules)

    @abstractmethod
    def text(self, rules: Sequence[Rule]) -> str:
        """The whole file; calls without a rule keep the library's own choice."""

    @abstractmethod
    def read(self, path: Path) -> list[Rule]:
        """Read the rules in a file as strictly as the library does, with error messages.

        Raises FailedError if the library would reject it, or interpret it differently.
        """

    def operations_in(self, path: Path) -> list[str]:
        """The operations that a file decides on."""
        return sorted({rule.operation for rule in self.read(path)})

    def text_with(self, path: Path, rule: Rule) -> str:
        """A file's text with one more rule that takes precedence over all others."""
        return self.text([rule, *self.read(path)])

    @abstractmethod
    def activate(self, path: Path) -> dict[str, str]:
        """The variables under which the library applies a file."""

    def worst(self, operation: str) -> str:
        """An algorithm that is sure to be slow for large messages, '' if none is known."""
        return "" if operation else operation

    def writable(self, operation: str, algorithm: str) -> bool:
        """Whether the present form can express a choice."""
        return bool(operation and algorithm)


def content(path: Path) -> str:
    """The text of a tuning file; raises InputError if there is none."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"cannot read {path}: {reason}", "name a tuning file") from None


def rejected(path: Path, line: int, why: str) -> FailedError:
    """The error for a file that a library would not accept as written."""
    return FailedError(f"{path}, line {line}: {why}", "the library would ignore it silently")
