"""srun of Slurm, for libraries that were built to be started by it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar

from nhalf.mpi.job import Launcher, MpiJob
from nhalf.sites.process_management import CHOICE, NONE, choose, offer


class Srun(Launcher):
    """Slurm's srun inside an allocation, or with its own allocation."""

    description: ClassVar[str] = "srun of Slurm"

    def tokens(self, job: MpiJob) -> list[str]:
        """The tokens `srun --ntasks=N --input=0 … COMMAND`: all ranks end when one fails.

        Only rank 0 gets the input. Without binding, the option is omitted: not every cluster
        supports binding, and srun then warns about the mere option.
        """
        tokens = ["srun", f"--ntasks={job.ranks}", "--input=0", "--kill-on-bad-exit=1", "--quiet"]
        # An earlier launch may have left processes on a host that does not answer.
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
        """The kind that the library speaks and `srun --mpi=list` offers, or the user's choice."""
        return os.environ.get(CHOICE, "") or choose(name, speaks, offer())

    def notice(self) -> str:
        """The warning if srun could not be asked."""
        reason = "" if os.environ.get(CHOICE) else offer().reason
        if not reason:
            return ""
        return (
            f"srun does not tell its process management ({reason}): Slurm's own choice is used; "
            f"set {CHOICE} if ranks do not find each other"
        )

    def why_separate_worlds(self, title: str, speaks: Sequence[str], pmi: str) -> tuple[str, str]:
        """Different process management is the reason; common kinds are proposed first."""
        alternatives = [kind for kind in offer().kinds if kind not in (*NONE, pmi)]
        common = [
            kind for kind in alternatives if kind.partition("_v")[0] in speaks
        ] or alternatives
        choice = f"choose {' or '.join(common)} with {CHOICE}, or " if common else ""
        return (
            f"{title} and srun speak different process management",
            f"{choice}use --launcher mpirun",
        )
