"""Hydra, the mpiexec of MPICH and of libraries derived from it."""

import functools
from pathlib import Path
from typing import ClassVar

from nhalf.mpi import Library
from nhalf.mpi.decision_table import call_of
from nhalf.mpi.job import FORK, MpiJob
from nhalf.mpi.surroundings import library_path
from nhalf.mpi.vendors import Vendor

_CLIENTS = {b"libpmix.so": "pmix", b"libpmi2.so": "pmi2", b"libpmi.so": "none"}
"""Clients that a library may be linked with, and what srun must offer them: Slurm serves PMI-1
without a plug-in."""


OPERATIONS = (
    *("allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce"),
    *("reduce-scatter", "scan", "scatter"),
)
"""The operations whose algorithms variables of MPICH, and of what is derived from it, choose."""


def key_of(operation: str) -> str:
    """The name of an operation in the libraries' variables."""
    return call_of(operation).upper()


class Hydra(Vendor):
    """A vendor whose mpiexec is Hydra's."""

    description: ClassVar[str] = "mpiexec of MPICH and Intel MPI (Hydra)"
    launcher: ClassVar[str] = "hydra"
    linked_as: ClassVar[str] = "libmpi.so.12"
    pmi: ClassVar[tuple[str, ...]] = ("pmi2",)

    def speaks(self, library: Library) -> tuple[str, ...]:
        """The clients that it is linked with, best first; all have their own client of PMI-2."""
        folders = library_path(library.prefix, self)
        names = (self.linked_as, "libmpich.so.12")
        files = (folder / name for folder in folders for name in names)
        linked = next((_linked(path) for path in files if path.is_file()), ())
        return tuple(dict.fromkeys([*linked, *self.pmi]))

    def tokens(self, job: MpiJob) -> list[str]:
        """Tokens `mpiexec -n N -bind-to core COMMAND`; oversubscription is always accepted."""
        hosts: list[str] = []
        if job.hosts:
            # This many ranks on each host, in turn; remaining ones begin with the first again.
            at_once = 1 if job.cyclic else job.block
            hosts = ["-hosts", ",".join(job.hosts), "-ppn", str(at_once)]
        if job.hosts and job.bootstrap:
            # Named hosts would make Intel's mpiexec try ssh even inside an allocation.
            hosts += ["-bootstrap", job.bootstrap]
        if job.hosts and job.bootstrap == FORK:
            hosts += ["-localhost", "127.0.0.1"]
        binding = "core" if job.bind else "none"
        return [
            str(job.mpiexec or "mpiexec"),
            "-n",
            str(job.ranks),
            *hosts,
            "-bind-to",
            binding,
            *job.command,
        ]


@functools.cache
def _linked(path: Path) -> tuple[str, ...]:
    """The process management of the clients that a shared object names."""
    try:
        content = path.read_bytes()
    except OSError:
        return ()
    return tuple(kind for name, kind in _CLIENTS.items() if name in content)
