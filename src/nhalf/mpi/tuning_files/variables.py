"""Tuning files of variables, one per line: `export NAME='value'`, to be sourced by a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from nhalf.mpi.tuner import content, rejected

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
