# SPDX-License-Identifier: Apache-2.0
"""srun of Slurm, for libraries that were built to be started by it."""

from __future__ import annotations

from typing import ClassVar

from nhalf.mpi.job import Job, Launcher


class Srun(Launcher):
    """Slurm's srun inside an allocation, or asking for one of its own."""

    what: ClassVar[str] = "srun of Slurm"

    def tokens(self, job: Job) -> list[str]:
        """`srun --ntasks=N --input=0 … COMMAND`: input to rank 0 only, all end when one fails.

        Without binding, the option is omitted: not every cluster supports binding, and srun then
        warns about the mere option.
        """
        tokens = ["srun", f"--ntasks={job.ranks}", "--input=0", "--kill-on-bad-exit=1", "--quiet"]
        # Beside what an earlier launch may have left on a host that does not answer.
        tokens.append("--overlap")
        if job.pmi:
            tokens.append(f"--mpi={job.pmi}")
        if job.bind:
            tokens += ["--cpu-bind=cores", "--cpus-per-task=1"]
        if job.oversubscribe:
            tokens.append("--overcommit")
        if job.hosts:
            tokens += [
                f"--nodes={len(job.hosts)}",
                f"--ntasks-per-node={job.block}",
                f"--distribution={'cyclic' if job.cyclic else 'block'}",
                f"--nodelist={','.join(job.hosts)}",
            ]
        return [*tokens, *job.command]
