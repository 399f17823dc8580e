# SPDX-License-Identifier: Apache-2.0
"""PBS: qsub and qstat."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from nhalf.base.errors import InputError
from nhalf.base.processes import run
from nhalf.sites.batch import BatchSystem, JobRequest, JobState, Phase, Unreachable

TIMEOUT_S = 30.0
PHASES = {"Q": Phase.WAITING, "H": Phase.WAITING, "W": Phase.WAITING, "F": Phase.DONE}


class Pbs(BatchSystem):
    """PBS, with the history of jobs switched on."""

    description: ClassVar[str] = "qsub of PBS"
    title: ClassVar[str] = "PBS"

    def is_here(self) -> bool:
        """Whether qsub is found."""
        return shutil.which("qsub") is not None

    def options(self, text: str) -> tuple[str, ...]:
        """Pairs such as '-q short'."""
        words = shlex.split(text)
        return tuple(shlex.join(words[i : i + 2]) for i in range(0, len(words), 2))

    def nodes_in(self, options: Sequence[str]) -> int:
        """They are asked for by the placement alone."""
        return 0

    def directives(self, request: JobRequest) -> str:
        """The #PBS lines."""
        minutes, seconds = divmod(round(request.time_s), 60)
        lines = [
            ("What qstat shows.", f"-N {request.name}"),
            ("Hosts for the largest placement, without neighbours.", f"-l select={request.nodes}"),
            ("", "-l place=scatter:excl"),
            (request.time_why, f"-l walltime={minutes}:{seconds:02}" if request.time_s else ""),
            ("What the job says.", f"-j oe -o {shlex.quote(str(request.output))}"),
            *(("Asked for with --job.", option) for option in request.options),
        ]
        said = [
            f"# {why}\n#PBS {option}" if why else f"#PBS {option}"
            for why, option in lines
            if option
        ]
        return "\n".join(said)

    def submit(self, script: Path) -> str:
        """`qsub SCRIPT` prints the job."""
        outcome = run(["qsub", str(script)], TIMEOUT_S)
        if not outcome.succeeded:
            raise InputError(f"qsub: {outcome.reason}", "give other options with --job")
        return outcome.stdout.strip()

    def state(self, job: str) -> JobState | None:
        """From qstat, which knows jobs that ended, too."""
        known = self._known(job)
        if known is None:
            return None
        code = known.get("Exit_status")
        phase = PHASES.get(known["job_state"], Phase.RUNNING)
        return JobState(known["job_state"], Phase.BROKEN if code else phase, exit_code=code)

    def cancelling(self, job: str) -> str:
        """With qdel."""
        return shlex.join(["qdel", job])

    def usable_hosts(self, options: Sequence[str]) -> list[str]:
        """Is left to PBS."""
        return []

    def job_here(self, variables: Mapping[str, str]) -> str:
        """PBS_JOBID."""
        return variables.get("PBS_JOBID", "")

    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """What was asked for without what was used."""
        known = self._known(job) or {}
        ends = [known.get(name, {}).get("walltime") for name in ("Resource_List", "resources_used")]
        limit_s, used_s = (_seconds(text) if text else None for text in ends)
        return None if limit_s is None else max(0.0, limit_s - (used_s or 0.0))

    def _known(self, job: str) -> dict[str, Any] | None:
        """What qstat says of a job. Raises Unreachable."""
        outcome = run(["qstat", "-x", "-f", "-F", "json", job], TIMEOUT_S)
        if "Unknown Job" in outcome.stderr:
            return None
        if not outcome.succeeded:
            raise Unreachable(f"qstat: {outcome.reason}")
        found: dict[str, Any] = json.loads(outcome.stdout)["Jobs"][job]
        return found


def _seconds(text: str) -> float:
    """Of '01:30:00'."""
    hours, minutes, seconds = map(int, text.split(":"))
    return 3600.0 * hours + 60 * minutes + seconds
