# SPDX-License-Identifier: Apache-2.0
"""srun of Slurm, for libraries that were built to be started by it."""

from __future__ import annotations

from typing import ClassVar

from nhalf.launchers import Job, Launcher


class Srun(Launcher):
    """Slurm's srun inside an allocation, or asking for one of its own."""

    what: ClassVar[str] = "srun of Slurm"

    def tokens(self, job: Job) -> list[str]:
        """`srun --ntasks=N --input=0 … COMMAND`: input to rank 0 only, all end when one fails."""
        tokens = [
            "srun",
            f"--ntasks={job.ranks}",
            "--input=0",
            "--kill-on-bad-exit=1",
            f"--cpu-bind={'cores' if job.bind else 'none'}",
        ]
        if job.bind:
            tokens.append("--cpus-per-task=1")
        if job.oversubscribe:
            tokens.append("--overcommit")
        if job.hosts:
            tokens.append(f"--nodelist={','.join(job.hosts)}")
        return [*tokens, *job.command]
