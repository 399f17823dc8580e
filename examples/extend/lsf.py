# SPDX-License-Identifier: Apache-2.0
"""LSF: bsub and bjobs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import InputError
from nhalf.base.processes import run
from nhalf.sites.batch import (
    JobOption,
    JobRequest,
    JobState,
    OptionSystem,
    Phase,
    Unreachable,
    seconds_of,
)

TIMEOUT_S = 30.0
PHASES = {
    **{"PEND": Phase.WAITING, "PSUSP": Phase.WAITING, "DONE": Phase.DONE, "EXIT": Phase.BROKEN},
}


class Lsf(OptionSystem):
    """LSF, whose hosts are requested by the number of ranks on each."""

    description: ClassVar[str] = "bsub of LSF"
    title: ClassVar[str] = "LSF"
    command: ClassVar[str] = "bsub"
    sentinel: ClassVar[str] = "#BSUB"
    example: ClassVar[str] = "-q short -W 0:10"
    ours: ClassVar[Mapping[str, set[str]]] = {"name": {"-J"}, "nodes": {"-n"}, "time": {"-W"}}
    refused: ClassVar[Mapping[str, str]] = {"-o": "it reads RUN/job.out", "-K": ""}

    def requests(self, request: JobRequest) -> list[JobOption]:
        """Whole hosts, for a time."""
        minutes = round(request.time_s / 60)
        limit = f"-W {minutes // 60}:{minutes % 60:02}" if minutes else ""
        return [
            JobOption("name", "What bjobs shows.", f"-J {request.name}"),
            JobOption("nodes", "Hosts for the largest placement.", f"-nnodes {request.nodes}"),
            JobOption("", "Without neighbours.", "-x"),
            JobOption("time", f"{request.time_why}.", limit),
            JobOption("", "What the job says.", f"-o {shlex.quote(str(request.output))}"),
        ]

    def submit(self, script: Path) -> str:
        """`bsub < SCRIPT` prints 'Job <7> is submitted to queue <short>.'"""
        outcome = run(["bsub"], TIMEOUT_S, text=script.read_text())
        job = re.search(r"Job <(\d+)>", outcome.stdout)
        if job is None:
            raise InputError(f"bsub: {outcome.reason}", "give other options with --job")
        return job[1]

    def state(self, job: str) -> JobState | None:
        """From bjobs, which knows ended jobs for an hour."""
        name, code = (self._told(job, "stat exit_code") or " ").split(" ", 1)
        if not name:
            return None
        return JobState(
            name, PHASES.get(name, Phase.RUNNING), exit_code=int(code) if code.isdecimal() else None
        )

    def cancelling(self, job: str) -> str:
        """With bkill."""
        return shlex.join(["bkill", job])

    def usable_hosts(self, options: Sequence[str]) -> list[str]:
        """Is left to LSF."""
        return []

    def job_here(self, variables: Mapping[str, str]) -> str:
        """LSB_JOBID."""
        return variables.get("LSB_JOBID", "")

    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """As '0:12 L': hours and minutes, and whether a limit is the reason."""
        words = self._told(job, "time_left").split()
        return seconds_of(f"{words[0]}:00") if words and ":" in words[0] else None

    def _told(self, job: str, fields: str) -> str:
        """The fields that bjobs prints of a job, '' of an unknown one. Raises Unreachable."""
        outcome = run(["bjobs", "-noheader", "-o", fields, job], TIMEOUT_S)
        if not outcome.succeeded and "is not found" not in outcome.stderr:
            raise Unreachable(f"bjobs: {outcome.reason}")
        return outcome.stdout.strip()
