"""Jobs to start, and launchers that turn them into command lines.

A launcher is a pure function from a job to tokens and variables, so launching is tested as text.
A library's own launcher is in the file of its vendor (mpi/vendors), all others are in
sites/launchers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

OF_JOB = ("PMI_", "PMIX_", "HYDI_", "MPI_LOCAL", "OMPI_COMM_WORLD_", "SLURM_")
"""Beginnings of the variables by which launchers and batch systems join their ranks."""
OF_ALLOCATION = (
    *("PBS_", "LSB_", "LOADL_", "LOADLBATCH", "COBALT_", "FLUX_", "PALS_", "OAR_", "PE_HOSTFILE"),
    *("SGE_", "HYDRA_", "I_MPI_HYDRA_", "I_MPI_PMI_LIBRARY", "I_MPI_PERHOST", "I_MPI_JOB_"),
    *(
        f"{prefix}_MCA_{name}"
        for prefix in ("OMPI", "PRTE")
        for name in ("plm", "ras", "rmaps", "orte_", "prte_", "hostfile", "default_hostfile")
    ),
)
"""Beginnings of the variables that tell launchers where an allocation has its hosts."""
FORK = "fork"
"""The way to hosts that are all this one, whatever their names."""
SETTINGS = ("PMIX_MCA_",)
"""Beginnings of variables among them that users set."""


def is_of_job(variable: str) -> bool:
    """Whether a variable tells a process of which job it is, and which rank."""
    return variable.startswith(OF_JOB) and not variable.startswith(SETTINGS)


def is_of_allocation(variable: str) -> bool:
    """Whether a variable tells a launcher where to start ranks."""
    return variable.startswith(OF_ALLOCATION)


@dataclass(frozen=True)
class MpiJob:
    """A job to start: `ranks` processes of `command`, through `mpiexec` if there is one.

    `bind` requests one distinct core per rank; `oversubscribe` allows more ranks than cores;
    `as_root` means that the user is the superuser, which Open MPI refuses unless allowed. On
    `hosts` ranks are placed in blocks of `ranks_per_host` (the last hosts may have fewer), or in
    turn if `cyclic`. `pmi` is the kind of process management that the library speaks, if the
    launcher is not the library's own; `bootstrap` the way to other hosts, '' for ssh or
    the launcher's choice.
    """

    command: tuple[str, ...]
    ranks: int
    mpiexec: Path | None = None
    bind: bool = True
    oversubscribe: bool = False
    as_root: bool = False
    hosts: tuple[str, ...] = ()
    ranks_per_host: int = 0
    cyclic: bool = False
    pmi: str = ""
    bootstrap: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def block(self) -> int:
        """The number of ranks on each full host."""
        return self.ranks_per_host or -(-self.ranks // max(len(self.hosts), 1))


class Launcher(ABC):
    """A program that starts processes."""

    description: ClassVar[str]
    """One sentence: the programs that this launcher drives."""

    @abstractmethod
    def tokens(self, job: MpiJob) -> list[str]:
        """The command line that starts the job; its first word is the required program."""

    def environment(self, job: MpiJob) -> dict[str, str]:
        """The variables to add to the caller's; the job's own come last."""
        return dict(job.environment)

    def process_management(self, name: str, speaks: Sequence[str]) -> str:
        """The kind of process management for a library that speaks these, '' if there is no choice.

        Raises MissingError if the library and this launcher have none in common.
        """
        return ""

    def notice(self) -> str:
        """A warning about the launcher's choice, '' if there is none."""
        return ""

    def why_separate_worlds(self, title: str, speaks: Sequence[str], pmi: str) -> tuple[str, str]:
        """Why started ranks are in separate worlds, and the remedy.

        `title` is that of their library, which speaks these kinds of process management; they
        were started with the kind `pmi`.
        """
        return (
            f"the program does not run on {title}, whose launcher this is",
            "take other MPI libraries off LD_LIBRARY_PATH and LD_PRELOAD",
        )
