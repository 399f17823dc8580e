"""A small script that sets variables and starts one program, read without running it.

    #!/bin/sh
    export FI_PROVIDER=tcp
    mpiexec -n 4 ./program input

What a shell would do beyond that (pipes, conditions, modules, several commands) is refused: nhalf
starts the program itself, in other mixtures of variables and options.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError

SIZE_BYTES_MAX = 1 << 20
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_BEYOND = re.compile(r"[|&;<>`()]|\$\(|\\$")
_QUOTED_DOLLAR = re.compile(r"'[^']*\$[^']*'")
_NOTHING = ("set", "shopt", ":", "true", "echo", "exit")
"""Words whose lines change nothing that is timed, or cannot be switched."""
REMEDY = (
    "a script may set variables and start one program; give another command with --a 'COMMAND' "
    "or --b 'COMMAND'"
)


@dataclass(frozen=True)
class LaunchScript:
    """The command that a script starts, its environment, and the folder where it does."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path


def read_script(path: Path, environment: Mapping[str, str] | None = None) -> LaunchScript:
    """Read a script; the environment is this process's if none is given.

    Raises InputError for a file that cannot be read, and for what only a shell can do.
    """
    try:
        if path.stat().st_size > SIZE_BYTES_MAX:
            raise InputError(f"{path} is too large for a script", REMEDY)
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"{path} cannot be read: {reason}") from error
    return parse_script(text, str(path), environment)


def parse_script(
    text: str, name: str, environment: Mapping[str, str] | None = None
) -> LaunchScript:
    """Read the text of a script, or a command line; `name` is how errors call it."""
    reader = _Reader(name, dict(os.environ if environment is None else environment))
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), 1):
        reader.read(line.strip(), number)
    if not reader.command:
        raise InputError(f"{name} starts no program", REMEDY)
    return LaunchScript(tuple(reader.command), reader.environment, reader.folder)


class _Reader:
    """Reads line after line."""

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        self.environment = environment
        self.command: list[str] = []
        self.folder = Path.cwd()
        self._name = name
        self._variables: dict[str, str] = {}

    def read(self, line: str, number: int) -> None:
        """Read a line; raises InputError for one that only a shell can run."""
        words = self._words(line, number)
        if not words or words[0] in _NOTHING:
            return
        if self.command:
            raise self._beyond(number, "starts more than one program")
        if words[0] == "export":
            self._set(words[1:], self.environment, number)
        elif words[0] == "unset":
            for name in words[1:]:
                self.environment.pop(name, None)
        elif words[0] == "cd" and len(words) == 2:
            self.folder = (self.folder / words[1]).resolve()
        elif all(_ASSIGNMENT.fullmatch(word) for word in words):
            self._assign(words)
        else:
            self._start(words)

    def _words(self, line: str, number: int) -> list[str]:
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise self._beyond(number, str(error).lower()) from error
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", line) if words else ""
        if _BEYOND.search(bare.partition(" #")[0]) or "$(" in line or _QUOTED_DOLLAR.search(line):
            raise self._beyond(number, "needs a shell")
        return [self._expanded(word, number) for word in words if word not in ('"$@"', "$@")]

    def _expanded(self, word: str, number: int) -> str:
        """A word with the values of its variables, which are empty where they are not set."""
        values = {**self.environment, **self._variables}
        text = _VARIABLE.sub(lambda match: values.get(match[1] or match[2], ""), word)
        if "${" in word and _VARIABLE.sub("", word).find("${") >= 0:
            raise self._beyond(number, "needs a shell")
        return text

    def _set(self, words: list[str], variables: dict[str, str], number: int) -> None:
        for word in words:
            name, equals, value = word.partition("=")
            if not equals:
                value = self._variables.get(name, self.environment.get(name, ""))
            if not _ASSIGNMENT.fullmatch(f"{name}="):
                raise self._beyond(number, f"sets {name!r}, which is no name of a variable")
            variables[name] = value

    def _assign(self, words: list[str]) -> None:
        """Set variables of the shell, or of the environment where they are exported already."""
        for word in words:
            name, _, value = word.partition("=")
            place = self.environment if name in self.environment else self._variables
            place[name] = value

    def _start(self, words: list[str]) -> None:
        """Note the command with the assignments before it."""
        while words and (match := _ASSIGNMENT.fullmatch(words[0])):
            self.environment[match[1]] = match[2]
            words = words[1:]
        self.command = words[1:] if words[0] in ("exec", "command") and words[1:] else words

    def _beyond(self, number: int, why: str) -> InputError:
        return InputError(f"line {number} of {self._name} {why}", REMEDY)
