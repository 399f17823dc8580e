# SPDX-License-Identifier: Apache-2.0
"""Hydra, the mpiexec of MPICH and of libraries that were made from it."""

from __future__ import annotations

from typing import ClassVar

from nhalf.mpi.job import Job
from nhalf.mpi.vendors import Vendor


class Hydra(Vendor):
    """A vendor whose mpiexec is Hydra's."""

    what: ClassVar[str] = "mpiexec of MPICH and Intel MPI (Hydra)"
    launcher: ClassVar[str] = "hydra"
    linked_as: ClassVar[str] = "libmpi.so.12"
    pmi: ClassVar[str] = "pmi2"

    def tokens(self, job: Job) -> list[str]:
        """`mpiexec -n N -bind-to core COMMAND`; more ranks than cores are always accepted."""
        hosts: list[str] = []
        if job.hosts:
            # This many on each host, in turn; what is left over begins with the first again.
            at_once = 1 if job.cyclic else job.block
            hosts = ["-hosts", ",".join(job.hosts), "-ppn", str(at_once)]
        if job.hosts and job.bootstrap:
            # Named hosts would make Intel's mpiexec try ssh even inside an allocation.
            hosts += ["-bootstrap", job.bootstrap]
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
