"""Which MPI library a launcher belongs to."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from nhalf.mpi import Library

NAMES = ("mpiexec", "mpirun", "prterun", "orterun")


def libraries_of_launcher(launcher: str, installed: Sequence[Library]) -> list[Library]:
    """Return the libraries whose launcher a program is; empty if it is none.

    A library may have several launchers, and several libraries may have theirs in one folder.
    """
    program = shutil.which(launcher)
    if program is None or not Path(launcher).name.startswith(NAMES):
        return []
    path = Path(program).resolve()
    folders = {path.parent, Path(program).parent.resolve()}
    launchers = [(library, library.mpiexec.resolve()) for library in installed if library.mpiexec]
    same_file = [library for library, own in launchers if own == path]
    return same_file[:1] or [library for library, own in launchers if own.parent in folders]
