"""srun of Slurm, for libraries that were built to be started by it.

Process management under Slurm: the kinds that srun offers and a library speaks.

Ranks find each other through a service of their launcher: PMI-2, PMIx, or that of HPE's machines.
srun has a plug-in for each, chosen by `--mpi`. If the library does not speak the chosen one, every
process takes itself for a program of one rank, and no error is printed.
"""

import functools
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi.job import Launcher, MpiJob

ASK_TIMEOUT_S = 10.0
NONE = ("none", "openmpi")
"""Names for no process management at all; the second is an old one."""
CHOICE = "SLURM_MPI_TYPE"
"""The variable by which users and sites choose; it takes precedence over nhalf's choice."""
_WORD = re.compile(r"[a-z]\w*")
_VERSIONS = re.compile(r"pmix_v\d+")


@dataclass(frozen=True)
class Offer:
    """The kinds that srun offers for `--mpi`; `reason` is why it cannot be asked, '' if it can."""

    kinds: tuple[str, ...] = ()
    reason: str = ""


def parse_offer(text: str) -> Offer:
    """Parse the output of `srun --mpi=list`, in any of its forms.

    Until version 20 each line begins with 'srun:', from 21 on with a tab; PMIx's versions are in
    the list or, from 22 on, in a line after it. Very old names begin with 'mpi/'.
    """
    kinds: dict[str, None] = {}
    listed = False
    for line in text.splitlines():
        word = line.strip().removeprefix("srun:").strip().removeprefix("mpi/")
        if "types are" in word:
            listed = True
        elif "plugin versions available" in word:
            kinds |= dict.fromkeys(_VERSIONS.findall(word))
        elif listed and _WORD.fullmatch(word):
            kinds[word] = None
    return Offer(tuple(kinds), "" if kinds else "its answer has no list")


def offer() -> Offer:
    """The offer of this machine's srun, which is asked once."""
    program = shutil.which("srun")
    return _offer_of(program) if program else Offer(reason="it is not found")


@functools.cache
def _offer_of(program: str) -> Offer:
    outcome = run([program, "--mpi=list"], ASK_TIMEOUT_S)
    answer = parse_offer(f"{outcome.stdout}\n{outcome.stderr}")
    return answer if answer.kinds or outcome.succeeded else Offer(reason=outcome.reason)


def choose(name: str, speaks: Sequence[str], offered: Offer) -> str:
    """The first kind that a library speaks and srun offers, '' for Slurm's own choice.

    Slurm chooses if the library's kinds are unknown, or srun cannot be asked. Raises MissingError
    if there is no such kind.
    """
    if not speaks or not offered.kinds:
        return ""
    for kind in speaks:
        # The plain name is the newest version.
        versions = sorted(
            candidate for candidate in offered.kinds if re.fullmatch(rf"{kind}_v\d+", candidate)
        )
        if kind in offered.kinds or versions:
            return kind if kind in offered.kinds else versions[-1]
    offered_kinds = [candidate for candidate in offered.kinds if candidate not in NONE]
    raise MissingError(
        f"{name} and srun have no process management in common: {name} speaks "
        f"{' or '.join(speaks)}, srun --mpi=list offers {', '.join(offered_kinds) or 'none'}",
        f"use --launcher mpirun, or choose one with {CHOICE}",
    )


class Srun(Launcher):
    """Slurm's srun inside an allocation, or with its own allocation."""

    description = "srun of Slurm"

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
