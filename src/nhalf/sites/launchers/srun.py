# SPDX-License-Identifier: Apache-2.0
"""srun of Slurm, for libraries that were built to be started by it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar

from nhalf.mpi.job import Job, Launcher
from nhalf.sites.process_management import CHOICE, NONE, choose, offer


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

    def process_management(self, name: str, speaks: Sequence[str]) -> str:
        """What the library speaks and `srun --mpi=list` offers; a user's own choice stands."""
        return os.environ.get(CHOICE, "") or choose(name, speaks, offer())

    def notice(self) -> str:
        """That srun could not be asked."""
        reason = "" if os.environ.get(CHOICE) else offer().reason
        if not reason:
            return ""
        return (
            f"srun does not tell its process management ({reason}): Slurm's own choice is used; "
            f"set {CHOICE} if ranks do not find each other"
        )

    def why_apart(self, title: str, speaks: Sequence[str], pmi: str) -> tuple[str, str]:
        """Different process management, and those to choose from: what both know goes first."""
        others = [one for one in offer().kinds if one not in (*NONE, pmi)]
        known = [one for one in others if one.partition("_v")[0] in speaks] or others
        which = f"choose {' or '.join(known)} with {CHOICE}, or " if known else ""
        return (
            f"{title} and srun speak different process management",
            f"{which}use --launcher mpirun",
        )
