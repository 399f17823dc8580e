"""The interface of a tuner: a library's own algorithms, and its tuning file.

The tuner of a library is in the file of its vendor (mpi/vendors), that of nhalf's own table in
mpi/tuning.py.

A decision is a list of `nhalf.mpi.decision_table.Rule` whose algorithms are the library's names;
sizes are nhalf's (message, vector or one block), which a tuner converts to those of its library.

Tuning files of variables, one per line: `export NAME='value'`, to be sourced by a shell.
"""

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from nhalf.base.errors import FailedError, InputError, MissingError, unknown
from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule

Reach = Literal["rules", "operations", "collectives"]
"""What a file may change: calls that its rules cover, all calls of their operations, or those of
all collective operations."""


@dataclass(frozen=True)
class OwnFile:
    """A tuning file that a launch uses already; `problem` is why rules cannot be added to it, ''
    if they can.
    """

    path: Path
    problem: str = ""


class Tuner(ABC):
    """The algorithms of one library, and how to select them."""

    description: ClassVar[str]
    """One sentence: the library, and the file that is written."""

    forms: ClassVar[dict[str, str]]
    """The forms of the file by name, each with its file name; the first is usual."""

    def __init__(self, library: Library, form: str = "") -> None:
        self.library = library
        self.nodes_of: Callable[[int], int] = lambda ranks: 1
        self.is_placed = False
        self.note = ""
        self.comment = ""
        self.shares_memory = True
        if form and form not in self.forms:
            raise unknown(f"form of {library.vendor}'s file", form, self.forms)
        self.form = form or self.usual_form()

    def placed(self, nodes_of: Callable[[int], int], *, shares_memory: bool = True) -> Self:
        """The tuner for ranks that are on several nodes.

        `nodes_of` says on how many this many ranks are, 0 if that is unknown; without
        `shares_memory` all that they send passes the network.
        """
        self.nodes_of, self.shares_memory = nodes_of, shares_memory
        self.is_placed = True
        return self

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

    def keeps_own_beside(self, operation: str, algorithms: Sequence[str]) -> bool:
        """Whether calls of an operation keep it where others of its calls take algorithms."""
        return self.keeps_own

    def reach(self, operation: str, algorithm: str) -> Reach:
        """What a file may change that has an algorithm for some calls of an operation."""
        if not self.keeps_own or self.stands_alone(algorithm):
            return "collectives"
        return "rules" if self.keeps_own_beside(operation, [algorithm]) else "operations"

    def together(
        self, operation: str, options: Mapping[tuple[int, int], Mapping[str, float]]
    ) -> dict[tuple[int, int], dict[str, float]]:
        """The algorithms of an operation that one file can have, of those that gain something.

        `options` are logarithms of gains by numbers of ranks and bytes, and by algorithm.
        """
        return {cell: dict(gains) for cell, gains in options.items()}

    @abstractmethod
    def algorithms(self, operation: str) -> list[str]:
        """The names of the library's algorithms for an operation; none if it has no choice."""

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether an algorithm works with this many ranks."""
        return bool(operation and algorithm and ranks)

    def stands_alone(self, algorithm: str) -> bool:
        """Whether forcing it may change other operations, so that it is never forced beside any."""
        return False

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

    def write(self, path: Path, rules: Sequence[Rule]) -> None:
        """Write the file, and what belongs to it beside it.

        It ends with the comment, if there is one and its form has such lines.
        """
        ending = f"# {self.comment}\n" if self.comment and self.form != "json" else ""
        path.write_text(self.text(rules) + ending, "utf-8")

    def write_with(self, source: Path, rule: Rule, path: Path) -> None:
        """Write a file with one more rule that takes precedence over all others of `source`."""
        path.write_text(self.text_with(source, rule), "utf-8")

    def own_files(self, environment: Mapping[str, str]) -> list[OwnFile]:
        """The tuning files that the library applies in a launch with these variables."""
        return []

    def extend(
        self, path: Path, rules: Sequence[Rule], environment: Mapping[str, str]
    ) -> dict[str, str]:
        """Write a file with rules before those of a launch's own files that have no problem.

        Returns the variables under which the library applies it, beside those of the launch.
        """
        raise FailedError(f"{self.library.name} has no file that can be extended")

    def beside_own(self, rules: Sequence[Rule], environment: Mapping[str, str]) -> list[Rule]:
        """Rules with those behind them that variables of a launch have for the same operations."""
        return list(rules)

    def remove(self, path: Path) -> None:
        """Remove the file, and what belongs to it."""
        path.unlink(missing_ok=True)

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


def problem_of(path: Path, read: Callable[[], object]) -> OwnFile:
    """An own file with what is wrong when it is read."""
    try:
        read()
    except (FailedError, InputError, MissingError) as error:
        return OwnFile(path, error.message)
    return OwnFile(path)


def rejected(path: Path, line: int, why: str) -> FailedError:
    """The error for a file that a library would not accept as written."""
    return FailedError(f"{path}, line {line}: {why}", "the library would ignore it silently")


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def variables_text(variables: Mapping[str, str], how: str) -> str:
    """The text of the file; `how` explains its use."""
    lines = [f"# {how}", *(f"export {name}={shlex.quote(variables[name])}" for name in variables)]
    return "\n".join(lines) + "\n"


def read_variables(path: Path, check: Callable[[str, str], str]) -> dict[str, str]:
    """The variables of a file; `check` returns the error in a name and value, '' for none.

    Raises FailedError naming the line if the file is not of this form or is empty.
    """
    variables: dict[str, str] = {}
    for number, line in enumerate(content(path).splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise rejected(path, number, str(error)) from None
        if words[:1] == ["export"]:
            words = words[1:]
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or not _NAME.fullmatch(name):
                raise rejected(path, number, f"{word!r} is not NAME=value")
            if name in variables:
                raise rejected(path, number, f"{name} stands twice")
            if reason := check(name, value):
                raise rejected(path, number, reason)
            variables[name] = value
    if not variables:
        raise rejected(path, 1, "it sets no variable")
    return variables
