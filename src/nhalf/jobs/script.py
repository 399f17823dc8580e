"""The job script: directives for the scheduler, and shell code that starts or continues a run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLES = ("PYTHONPATH", "NHALF_")
"""Variables of the caller that the job needs to find the same nhalf: names or prefixes."""


@dataclass(frozen=True)
class Commands:
    """The commands of a job: this nhalf, by absolute path, with its arguments.

    `begin` are the arguments of `nhalf run` for a new run, none if it exists; `resume` those to add
    when it continues.
    """

    program: tuple[str, ...]
    run: Path
    folder: Path
    begin: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()


def script(directives: str, commands: Commands, variables: Mapping[str, str]) -> str:
    """Return the whole script.

    One script starts and continues a run, so that it can be started again: by the scheduler after
    the loss of a host, or by hand.
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


def job_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Select the variables that a job needs to find the same nhalf."""
    exact, prefix = VARIABLES
    return {
        name: value
        for name, value in sorted(variables.items())
        if name == exact or name.startswith(prefix)
    }


def _exports(variables: Mapping[str, str]) -> list[str]:
    """Return the lines that export variables, if any."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return ["# The same nhalf as that which submitted.", *lines, ""] if lines else []


def _start(commands: Commands) -> list[str]:
    """Return the lines that call nhalf, which replaces the shell to receive signals."""
    resume = _line(commands.program, "run", "--resume", str(commands.run), *commands.resume)
    why = "# nhalf replaces this shell, so that it receives the scheduler's signals."
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
