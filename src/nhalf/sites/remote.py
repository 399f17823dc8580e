"""Run a short command on many hosts at once, inside the job that runs there or by ssh."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from nhalf.base.processes import ProgramOutcome, run

WORKERS_MAX = 64
ASK_TIMEOUT_S = 10.0


def ask(
    commands: Mapping[str, Sequence[str]], timeout_s: float = ASK_TIMEOUT_S
) -> dict[str, ProgramOutcome]:
    """The outcome of a command by host; unreachable hosts are left out.

    Under Slurm the command runs in the current job; '' as a host is this machine. Every host
    has `timeout_s` seconds to answer.
    """
    tokens = {host: _tokens(host, command) for host, command in commands.items()}
    ways = {host: words for host, words in tokens.items() if words}
    with ThreadPoolExecutor(max_workers=min(WORKERS_MAX, max(len(ways), 1))) as pool:
        outcomes = pool.map(lambda words: run(words, timeout_s), ways.values())
        return dict(zip(ways, outcomes, strict=True))


def _tokens(host: str, command: Sequence[str]) -> list[str]:
    """The command line that runs a command on a host; empty if the host is unreachable."""
    if not host:
        return list(command)
    if os.environ.get("SLURM_JOB_ID"):
        # --overlap: the ranks hold all cores of the job.
        place = ["--nodes=1", "--ntasks=1", f"--nodelist={host}"]
        return ["srun", "--quiet", "--overlap", "--mpi=none", *place, *command]
    if shutil.which("ssh"):
        words = " ".join(_quoted(word) for word in command)
        return ["ssh", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", host, words]
    return []


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
