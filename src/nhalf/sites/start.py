# SPDX-License-Identifier: Apache-2.0
"""Start a program on a library: the job, the launcher's words and all variables in one place."""

from __future__ import annotations

import ctypes.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base import plugins
from nhalf.base.errors import MissingError, unknown
from nhalf.mpi import Library
from nhalf.sites import launchers
from nhalf.sites.launchers import Job, Launcher


@dataclass(frozen=True)
class Start:
    """What to execute: the words, and the variables to add to the present ones."""

    command: list[str]
    environment: dict[str, str]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def launcher(name: str) -> Launcher:
    """A launcher by name.

    Raises InputError for an unknown one.
    """
    known: dict[str, type[Launcher]] = plugins.load(launchers.__name__, Launcher)
    if name not in known:
        raise unknown("launcher", name, known)
    return known[name]()


@dataclass(frozen=True)
class Spread:
    """Where ranks go: on `hosts` (none: here), so many on each of them, in blocks or in turn.

    `crowded` says that hosts have fewer cores than ranks; `launcher` is '' for the library's own.
    """

    hosts: tuple[str, ...] = ()
    ranks_per_host: int = 0
    cyclic: bool = False
    crowded: bool = False
    launcher: str = ""


HERE = Spread()
"""On this machine, by the library's own launcher."""
_PMI = {"mpich": "pmi2", "intel": "pmi2", "openmpi": "pmix"}
"""What a library speaks with Slurm, as `srun --mpi` names it."""


def start(
    library: Library,
    command: Sequence[str],
    ranks: int,
    bind: bool = True,
    spread: Spread = HERE,
) -> Start:
    """How to start `ranks` processes of a command on a library, from here and as this user.

    Raises MissingError where the launcher asked for does not drive this library.
    """
    name = _launcher_of(library, spread.launcher)
    variables = dict(library.environment)
    pmi = ""
    if name == "srun":
        # What the user or the site chose stays so.
        pmi = "" if os.environ.get("SLURM_MPI_TYPE") else _PMI.get(library.vendor, "")
        variables |= _client_of_slurm(library)
    job = Job(
        command=tuple(command),
        ranks=ranks,
        mpiexec=library.mpiexec,
        bind=bind,
        oversubscribe=spread.crowded if spread.hosts else ranks > cores(),
        as_root=os.geteuid() == 0,
        hosts=spread.hosts,
        ranks_per_host=spread.ranks_per_host,
        cyclic=spread.cyclic,
        pmi=pmi,
        bootstrap="slurm" if os.environ.get("SLURM_JOB_ID") else "",
        environment=variables,
    )
    driver = launcher(name)
    return Start(driver.tokens(job), driver.environment(job))


def _launcher_of(library: Library, asked: str) -> str:
    """The launcher that starts a library: its own mpirun, unless another one is asked for."""
    if asked in ("", "mpirun", library.launcher):
        return library.launcher
    if asked == "srun":
        if shutil.which("srun") is None:
            raise MissingError("srun is not found", "load Slurm's module, or use --launcher mpirun")
        return asked
    raise MissingError(
        f"{library.name} is not started by {asked}",
        "use --launcher mpirun for its own launcher, or leave it out with --mpi",
    )


def _client_of_slurm(library: Library) -> dict[str, str]:
    """Intel MPI brings no client of Slurm's process management: it is told where Slurm's is."""
    if library.vendor != "intel" or os.environ.get("I_MPI_PMI_LIBRARY"):
        return {}
    found = ctypes.util.find_library("pmi2")
    if found is None:
        raise MissingError(
            f"{library.name} needs libpmi2 to be started by srun", "apt-get install libpmi2-0"
        )
    return {"I_MPI_PMI_LIBRARY": found}
