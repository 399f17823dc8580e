# SPDX-License-Identifier: Apache-2.0
"""The job script: what the scheduler reads, and the shell that begins or goes on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLES = ("PYTHONPATH", "NHALF_")
"""Variables of the caller that the job needs to find the same nhalf: by name, or its beginning."""


@dataclass(frozen=True)
class Commands:
    """What a job starts: this nhalf, by absolute path, with its arguments.

    `begin` are the words of `nhalf run` for a run that is not there yet, none if there is one;
    `resume` those to add where it goes on.
    """

    program: tuple[str, ...]
    run: Path
    folder: Path
    begin: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()


def script(directives: str, commands: Commands, variables: Mapping[str, str]) -> str:
    """The whole script.

    The same script begins a run and goes on with it, so that it may be started again: by the
    scheduler after the loss of a host, or by hand.
    """
    lines = [
        "#!/bin/sh",
        "# A job of nhalf, written by `nhalf run --submit`. Started again, it goes on with what",
        "# is not measured yet.",
        "",
        directives,
        "",
        "# Names of files are those of the folder in which it was submitted.",
        f"cd {shlex.quote(str(commands.folder))} || exit 3",
        "",
        *_exports(variables),
        *_start(commands),
    ]
    return "\n".join(lines) + "\n"


def chosen(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that a job needs to find the same nhalf."""
    exact, prefix = VARIABLES
    return {
        name: value
        for name, value in sorted(variables.items())
        if name == exact or name.startswith(prefix)
    }


def _exports(variables: Mapping[str, str]) -> list[str]:
    """The variables, where there are any."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return ["# The same nhalf as that which submitted.", *lines, ""] if lines else []


def _start(commands: Commands) -> list[str]:
    """The calls; nhalf takes the place of the shell, so that it hears the scheduler's signals."""
    resume = _line(commands.program, "run", "--resume", str(commands.run), *commands.resume)
    why = "# nhalf takes the place of this shell, so that it hears when it is asked to end."
    if not commands.begin:
        return [why, resume]
    begin = _line(commands.program, "run", *commands.begin, "--out", str(commands.run))
    return [
        why,
        f"if [ -e {shlex.quote(str(commands.run / 'run.json'))} ]; then",
        "    # Begun in a job before this one.",
        f"    {resume}",
        "else",
        f"    {begin}",
        "fi",
    ]


def _line(program: Sequence[str], *words: str) -> str:
    return f"exec {shlex.join([*program, *words])}"
