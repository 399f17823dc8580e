"""The environment of a user's command: in the head, or in a node."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence

from nhalf.base.errors import FailedError
from nhalf.sites.lab.command import system_path
from nhalf.sites.lab.layout import HEAD
from nhalf.sites.lab.places import keeper
from nhalf.sites.lab.state import Lab

IN_CURRENT_FOLDER = 'cd -- "$1" 2>/dev/null || cd /; shift; exec "$@"'


def command_line(lab: Lab, place: str, command: Sequence[str]) -> list[str]:
    """The command to execute: namespaces of a place, current folder, user's command.

    Raises FailedError if the place is dead.
    """
    pid = keeper(lab, place)
    if pid is None:
        remedy = "down, then up again" if place == HEAD else f"restart {place} --name {lab.name}"
        raise FailedError(f"{place} is dead", f"nhalf lab {remedy}")
    spaces = ["--uts", "--mount", "--root", "--net", "--ipc"]
    entered = ["nsenter", "--target", str(pid), *spaces]
    return [*entered, "sh", "-c", IN_CURRENT_FOLDER, "nhalf-lab", os.getcwd(), *command]


def variables(lab: Lab) -> dict[str, str]:
    """The present environment with Slurm's configuration, the lab's name and this nhalf."""
    return {
        **os.environ,
        "SLURM_CONF": str(lab.slurm_conf),
        "NHALF_LAB": lab.name,
        "PATH": f"{lab.folder}/bin:{system_path()}",
        # Everything in a lab is root's.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def offer_nhalf(lab: Lab) -> None:
    """Put a command into the lab that calls the running nhalf."""
    text = f'#!/bin/sh\nexec {sys.executable} -P -m nhalf "$@"\n'
    path = lab.folder / "bin" / "nhalf"
    if not path.exists() or path.read_text() != text:
        part = path.with_name(f"nhalf.{os.getpid()}")
        part.write_text(text)
        part.chmod(part.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        part.rename(path)


def execute(lab: Lab, place: str, command: Sequence[str]) -> None:
    """Replace this process by the command, with its own input, output, signals and exit code."""
    line = command_line(lab, place, command)
    offer_nhalf(lab)
    sys.stdout.flush()
    os.execvpe(line[0], line, variables(lab))
