# SPDX-License-Identifier: Apache-2.0
"""mpiexec of the Hydra family: MPICH and Intel MPI."""

from __future__ import annotations

from typing import ClassVar

from nhalf.sites.launchers import Job, Launcher


class Hydra(Launcher):
    """Hydra's mpiexec. Intel's has another way to pin, through variables; both are given."""

    what: ClassVar[str] = "mpiexec of MPICH and Intel MPI (Hydra)"

    def tokens(self, job: Job) -> list[str]:
        """`mpiexec -n N -bind-to core COMMAND`; more ranks than cores are always accepted."""
        hosts: list[str] = []
        if job.hosts:
            # So many on each host, in turn; what is left over begins with the first again.
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

    def environment(self, job: Job) -> dict[str, str]:
        """Intel's own pinning: one whole core per rank, or none at all."""
        variables = {"I_MPI_PIN": "1" if job.bind else "0"}
        if job.bind:
            variables["I_MPI_PIN_DOMAIN"] = "core"
        return {**variables, **job.environment}
