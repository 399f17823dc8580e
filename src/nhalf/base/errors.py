"""Typed errors: each has an exit code and a remedy."""

import difflib
import re
from collections.abc import Collection, Iterable

READABLE = 40
"""This many names can be read in a message."""


class NhalfError(Exception):
    """Base of every error shown to a user as one line.

    `exit_code` is the exit status of the command line: 1 a check failed, 2 wrong usage or bad
    input, 3 a missing dependency. No error has 4, that of answers which stay unclear.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        mark = "" if self.message.endswith("?") else ";"
        text = f"{self.message}{mark} {self.remedy}" if self.remedy else self.message
        return " ".join(text.split())


class FailedError(NhalfError):
    """A check failed: a comparison found a regression, or data failed verification."""

    exit_code = 1


class ProgramError(FailedError):
    """A program that was to run did not end well; the exit code is its own."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class InputError(NhalfError):
    """Wrong usage or bad input: a name, a size, a file that cannot be used."""

    exit_code = 2


class BudgetSpentError(InputError):
    """The time that was given ended before the first result."""

    def __init__(self, budget_s: float) -> None:
        super().__init__(
            f"the budget of {budget_s:.3g} s was spent before the first point",
            "give a longer --budget",
        )


class UnknownName(InputError):
    """A name that is none of the known ones, of a kind such as 'pattern'."""

    def __init__(self, kind: str, name: str, known_names: Collection[str], remedy: str) -> None:
        super().__init__(f"unknown {kind} {name!r}", remedy)
        self.kind, self.name, self.known_names = kind, name, known_names


class MissingError(NhalfError):
    """A requirement is missing: a library, a compiler, disk space, a permission."""

    exit_code = 3


class Interrupted(NhalfError):
    """The user pressed Ctrl-C, or the process was asked to terminate."""

    exit_code = 130


class Terminated(KeyboardInterrupt):
    """A signal arrived, whose name is the text: of a batch system, or of a closed terminal."""


def how_ended(error: KeyboardInterrupt) -> str:
    """What interrupted this program."""
    return f"asked to end by {error}" if isinstance(error, Terminated) else "interrupted"


def library_named(name: str, libraries: Iterable[str], kind: str = "library") -> str:
    """The library with this name, or the newest whose name starts with it ('openmpi', 'openmpi-5').

    Libraries with a setting (`openmpi-5.0.11+NAME`) need the full name. Raises InputError if none
    matches.
    """
    names = sorted(libraries)
    if name in names:
        return name
    beginning = re.compile(f"{re.escape(name)}[-.]")
    matches = [library for library in names if beginning.match(library) and "+" not in library]
    if not name or not matches:
        raise unknown(kind, name, filter(None, names))
    return max(matches, key=_version)


def _version(library: str) -> list[int]:
    """The numbers of a library's version, without those of a suffix as in `mpich-5.0.2-path-2`."""
    version = re.search(r"-(\d[^-]*)", library)
    return [int(part) for part in re.findall(r"\d+", version[1])] if version else []


def unknown(kind: str, name: str, known_names: Iterable[str], listed_by: str = "") -> UnknownName:
    """The error for an unknown name; its remedy has the closest known names, or all of them.

    Names too many to read are left to the command that lists them (`listed_by`).
    """
    names = sorted(known_names)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        remedy = "did you mean " + " or ".join(close) + "?"
    elif listed_by and len(names) > READABLE:
        remedy = f"see {listed_by} for all {len(names)}"
    elif names:
        remedy = "known are " + ", ".join(names)
    else:
        remedy = f"no {kind} is known here"
    return UnknownName(kind, name, names, remedy)
