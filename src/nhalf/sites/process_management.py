# SPDX-License-Identifier: Apache-2.0
"""Process management under Slurm: what srun offers, and what of it a library speaks.

Ranks find each other through a service of whatever starts them: PMI-2, PMIx, or that of HPE's
machines. srun has a plug-in for each, chosen by `--mpi`. Where the library does not speak the one
that was chosen, every process takes itself for a program of one rank, and no error is printed.
"""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import MissingError
from nhalf.base.processes import run

ASK_TIMEOUT_S = 10.0
NONE = ("none", "openmpi")
"""No process management at all, and an old name for it."""
CHOICE = "SLURM_MPI_TYPE"
"""The variable by which users and sites choose; it takes precedence over anything here."""
_WORD = re.compile(r"[a-z]\w*")
_VERSIONS = re.compile(r"pmix_v\d+")


@dataclass(frozen=True)
class Offer:
    """What srun offers, as `--mpi` names it; `reason` is why it cannot be asked, '' if it can."""

    kinds: tuple[str, ...] = ()
    reason: str = ""


def parse_offer(text: str) -> Offer:
    """The offer in what `srun --mpi=list` printed, in any of its forms.

    Until version 20 each line begins with 'srun:', from 21 on with a tab; PMIx's versions are in
    the list or, from 22 on, in a line after it. Very old names begin with 'mpi/'.
    """
    found: dict[str, None] = {}
    listed = False
    for line in text.splitlines():
        word = line.strip().removeprefix("srun:").strip().removeprefix("mpi/")
        if "types are" in word:
            listed = True
        elif "plugin versions available" in word:
            found |= dict.fromkeys(_VERSIONS.findall(word))
        elif listed and _WORD.fullmatch(word):
            found[word] = None
    return Offer(tuple(found), "" if found else "its answer has no list")


def offer() -> Offer:
    """What the srun of this machine offers; it is asked once."""
    program = shutil.which("srun")
    return _asked(program) if program else Offer(reason="it is not found")


@functools.cache
def _asked(program: str) -> Offer:
    outcome = run([program, "--mpi=list"], ASK_TIMEOUT_S)
    found = parse_offer(f"{outcome.stdout}\n{outcome.stderr}")
    if found.kinds or outcome.succeeded:
        return found
    return Offer(reason=outcome.reason)


def choose(name: str, speaks: Sequence[str], offered: Offer) -> str:
    """The first kind that a library speaks and srun offers, '' for Slurm's own choice.

    That is left to Slurm where nobody knows what the library speaks, or srun cannot be asked.
    Raises MissingError if there is no such kind.
    """
    if not speaks or not offered.kinds:
        return ""
    for kind in speaks:
        # The plain name is the newest version.
        versions = sorted(one for one in offered.kinds if re.fullmatch(rf"{kind}_v\d+", one))
        if kind in offered.kinds or versions:
            return kind if kind in offered.kinds else versions[-1]
    there = [one for one in offered.kinds if one not in NONE]
    raise MissingError(
        f"{name} and srun have no process management in common: {name} speaks "
        f"{' or '.join(speaks)}, srun --mpi=list offers {', '.join(there) or 'none'}",
        f"use --launcher mpirun, or choose one with {CHOICE}",
    )
