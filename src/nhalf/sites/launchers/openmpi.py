# SPDX-License-Identifier: Apache-2.0
"""mpirun and prterun of Open MPI 4 and 5."""

from __future__ import annotations

from typing import ClassVar

from nhalf.sites.launchers import Job, Launcher


class OpenMpi(Launcher):
    """Open MPI's mpirun; the words used here mean the same in versions 4 and 5."""

    what: ClassVar[str] = "mpirun or mpiexec of Open MPI 4 and 5 (orterun, prterun)"

    def tokens(self, job: Job) -> list[str]:
        """`mpirun -n N --map-by … --bind-to … COMMAND`; standard input goes to rank 0."""
        mapping = "core:OVERSUBSCRIBE" if job.oversubscribe else "core"
        binding = "core" if job.bind else "none"
        if job.bind and job.oversubscribe:
            # Without this word Open MPI refuses to bind a second rank to a core.
            binding = "core:overload-allowed"
        if job.hosts:
            # `slot` fills one host after the other, `node` deals ranks out.
            mapping = "node" if job.cyclic else "slot"
            mapping += ":OVERSUBSCRIBE" if job.oversubscribe else ""
        return [
            str(job.mpiexec or "mpirun"),
            "-n",
            str(job.ranks),
            *self._host_tokens(job),
            "--map-by",
            mapping,
            "--bind-to",
            binding,
            *job.command,
        ]

    def environment(self, job: Job) -> dict[str, str]:
        """Permission to run as root where needed, and no warning about memory binding."""
        variables = {"OMPI_MCA_hwloc_base_mem_bind_failure_action": "silent"}
        if job.as_root:
            variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return {**variables, **job.environment}

    @staticmethod
    def _host_tokens(job: Job) -> list[str]:
        """`--host a:2,b:2`, and the variables that ssh would not carry over by itself."""
        if not job.hosts:
            return []
        tokens = ["--host", ",".join(f"{host}:{job.block}" for host in job.hosts)]
        for name in sorted(job.environment):
            tokens += ["-x", name]
        return tokens
