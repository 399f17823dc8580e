# SPDX-License-Identifier: Apache-2.0
"""Typed errors: each knows its exit code and says what to do about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class NhalfError(Exception):
    """Base of every error shown to a user as one line.

    `exit_code` is what the command line returns: 1 the thing asked about failed, 2 wrong usage or
    bad input, 3 something needed is missing.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.message}; {self.remedy}" if self.remedy else self.message
        return " ".join(text.split())


class FailedError(NhalfError):
    """The thing asked about failed: a comparison found a regression, data did not verify."""

    exit_code = 1


class InputError(NhalfError):
    """Wrong usage or bad input: a name, a size, a file that cannot be used."""

    exit_code = 2


class MissingError(NhalfError):
    """Something needed is not here: a library, a compiler, room on the disk, a permission."""

    exit_code = 3


class Interrupted(NhalfError):
    """The user ended it with Ctrl-C, or somebody asked the process to end."""

    exit_code = 130


class Terminated(KeyboardInterrupt):
    """SIGTERM came: somebody, or a batch system, wants this process to end."""


def library_named(name: str, known: Iterable[str]) -> str:
    """The library of a name, or the newest whose name begins with it ('openmpi', 'openmpi-5').

    Libraries under settings (`openmpi-5.0.11+NAME`) are named in full. Raises InputError if there
    is none.
    """
    names = sorted(known)
    if name in names:
        return name
    starting = [one for one in names if re.match(f"{re.escape(name)}[-.]", one) and "+" not in one]
    if not name or not starting:
        raise unknown("library", name, filter(None, names))
    return max(starting, key=lambda one: [int(number) for number in re.findall(r"\d+", one)])


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not known, with the closest known names as its remedy."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        remedy = "did you mean " + " or ".join(close) + "?"
    elif names:
        remedy = "known are " + ", ".join(names)
    else:
        remedy = f"no {kind} is known here"
    return InputError(f"unknown {kind} {name!r}", remedy)
