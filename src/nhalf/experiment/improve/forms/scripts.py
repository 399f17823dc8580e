"""Scripts that set the variables and start the program: of a shell, or a batch script for sbatch,
with as many nodes and tasks as the program was tried with.
"""

import re
import shlex
from pathlib import Path

from nhalf.experiment.improve.forms import Winner, WinnerForm
from nhalf.mpi.launch_words import TRIAL


class Script(WinnerForm):
    """Any winner; arguments of the script follow those of the program."""

    endings = (".sh",)
    is_executable = True

    def text(self, winner: Winner) -> str:
        """The remarks, the variables that differ, and the command."""
        lines = ["#!/bin/sh", *winner.comments("#"), *winner.variable_lines]
        return "\n".join([*lines, f'exec {shlex.join(winner.improved.words)} "$@"', ""])


class Slurm(WinnerForm):
    """Any winner; arguments after the script's name follow those of the program."""

    endings = (".sbatch", ".slurm")
    is_executable = True

    def text(self, winner: Winner) -> str:
        """The options of the job, the variables, and the command that starts the ranks."""
        lines = ["#!/bin/bash", *_options(winner), *winner.comments("#")]
        lines += [
            f"export {name}={shlex.quote(text)}"
            for name, text in winner.in_batch.items()
            if name not in winner.improved.environment
        ]
        lines += winner.variable_lines
        return "\n".join([*lines, f'exec {shlex.join(winner.improved.words)} "$@"', ""])


def _options(winner: Winner) -> list[str]:
    """The lines that sbatch reads. What is tried on a simulated machine is one task."""
    name = re.sub(r"[^\w.-]", "", Path(winner.improved.program).name) or "improved"
    is_virtual = winner.improved.family == TRIAL
    nodes, tasks = (1, 1) if is_virtual else (winner.hosts, winner.ranks)
    lines = [f"#SBATCH --job-name={name}"]
    lines += [f"#SBATCH --nodes={nodes}"] if nodes else []
    return lines + ([f"#SBATCH --ntasks={tasks}"] if tasks else [])
