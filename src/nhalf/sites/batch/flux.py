"""Flux: flux batch, flux jobs and flux job timeleft, flux resource for hosts."""

import math
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import InputError, MissingError
from nhalf.base.processes import ProgramOutcome, run
from nhalf.sites.batch import (
    WHY_APPEND,
    WHY_EXCLUSIVE,
    JobOption,
    JobRequest,
    JobState,
    OptionSystem,
    Phase,
    Unreachable,
    value_of,
)
from nhalf.sites.hosts import parse_hosts

ANSWER_TIMEOUT_S = 30.0
SUBMIT_TIMEOUT_S = 90.0
UNLIMITED_S = 2**32 - 1
"""What `flux job timeleft` prints without a limit."""
ASCII = {"FLUX_F58_FORCE_ASCII": "1"}
"""Lets the names of jobs begin with a letter that every terminal has."""
_PHASES = {
    **dict.fromkeys(("DEPEND", "PRIORITY", "SCHED"), Phase.WAITING),
    **{"COMPLETED": Phase.DONE, "CANCELED": Phase.CANCELLED},
    **dict.fromkeys(("FAILED", "TIMEOUT"), Phase.BROKEN),
}
"""The common state of each status; an unknown one counts as running."""
_FIELDS = ("status", "returncode", "nodelist", "contextual_info", "exception.type")
_FORMAT = "|".join(f"{{{field}}}" for field in (*_FIELDS, "exception.note"))


class Flux(OptionSystem):
    """Flux as the scheduler of a machine, or an instance of it within the job of another one."""

    description = "flux batch of Flux"
    title = "Flux"
    command = "flux batch"
    sentinel = "# flux:"
    example = "--nodes=4 --time-limit=10m --queue=short"
    ours: ClassVar[Mapping[str, set[str]]] = {
        "name": {"--job-name"},
        "nodes": {"-N", "--nodes"},
        "hosts": {"--requires"},
        "exclusive": {"-x", "--exclusive"},
        "time": {"-t", "--time-limit"},
    }
    refused: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("--output", "--error", "-l", "--label-io"), "it reads RUN/job.out"),
        **dict.fromkeys(("--wrap", "--input", "--cwd"), "it writes the script"),
        **dict.fromkeys(("-h", "--help", "--dry-run"), ""),
    }

    def is_here(self) -> bool:
        """Whether flux is found and reaches an instance: many machines have it for users alone."""
        return shutil.which("flux") is not None and _flux("uptime").succeeded

    def requests(self, request: JobRequest) -> list[JobOption]:
        """Whole hosts, for a time."""
        hosts = f"--requires=hosts:{','.join(request.hosts)}" if request.hosts else ""
        minutes = math.ceil(request.time_s / 60)
        why = f"{request.time_why.capitalize()}."
        return [
            JobOption("name", "What flux jobs shows.", f"--job-name={shlex.quote(request.name)}"),
            JobOption("nodes", "Hosts for the largest placement.", f"--nodes={request.nodes}"),
            JobOption("hosts", "The hosts that --hosts names.", hosts),
            JobOption("exclusive", WHY_EXCLUSIVE, "--exclusive"),
            JobOption("time", why, f"--time-limit={minutes}m" if minutes else ""),
            JobOption("", WHY_APPEND, "--setopt=output.mode=append"),
            JobOption("", "", f"--output={_output(request.output)}"),
        ]

    def submit(self, script: Path) -> str:
        """`flux batch SCRIPT` prints the name of the job, such as 'fM7Zq9AKHno'."""
        outcome = run(["flux", "batch", str(script)], SUBMIT_TIMEOUT_S, ASCII)
        if outcome.stopped or any(
            text in outcome.stderr for text in ("flux_open", "Unable to connect", "ENOENT")
        ):
            raise MissingError(f"flux batch: {outcome.reason}", "look with flux uptime")
        if not outcome.succeeded:
            remedy = "give other options with --job; flux resource list shows what there is"
            raise InputError(f"flux batch: {outcome.reason}", remedy)
        job = outcome.stdout.strip()
        if len(job.split()) != 1:
            raise MissingError(f"flux batch names no job: {job!r}", "look with flux jobs")
        return job

    def state(self, job: str) -> JobState | None:
        """Ask flux jobs, which keeps jobs after their end."""
        outcome = _flux("jobs", "--no-header", f"--format={_FORMAT}", job)
        if "unknown" in outcome.stderr:
            return None
        if not outcome.succeeded:
            raise Unreachable(f"flux jobs: {outcome.reason}")
        return read_state(outcome.stdout)

    def cancelling(self, job: str) -> str:
        """The command line of flux cancel."""
        return shlex.join(["flux", "cancel", job])

    def usable_hosts(self, options: Sequence[str]) -> list[str]:
        """The hosts that are up in the queue that the options name, else in all."""
        queues = [value_of(option) for option in options if self.names(option) & {"-q", "--queue"}]
        words = ["--no-header", "--states=free,allocated", "--format={nodelist}"]
        outcome = _flux("resource", "list", *words, *(f"--queue={queue}" for queue in queues[-1:]))
        lists = outcome.stdout.split() if outcome.succeeded else []
        return [host.name for host in parse_hosts(",".join(lists))] if lists else []

    def job_here(self, variables: Mapping[str, str]) -> str:
        """The job that a batch script is, else the one that flux run started."""
        return variables.get("FLUX_ENCLOSING_ID", "") or variables.get("FLUX_JOB_ID", "")

    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """Ask flux job timeleft, which answers for the job in which it runs."""
        text = _flux("job", "timeleft").stdout.strip()
        return float(text) if text.isdecimal() and int(text) < UNLIMITED_S else None


def read_state(text: str) -> JobState | None:
    """The state in the line that `flux jobs` prints for a job; None if it prints none."""
    parts = text.strip().split("|", len(_FIELDS))
    if len(parts) != len(_FIELDS) + 1:
        return None
    status, code, hosts, pending, exception, note = (part.strip() for part in parts)
    phase = _PHASES.get(status, Phase.RUNNING)
    reason = pending if phase is Phase.WAITING else ""
    if exception and phase is not Phase.DONE:
        reason = f"{exception}: {note}" if note else exception
    exit_code = int(code) if code.lstrip("-").isdecimal() else None
    return JobState(status, phase, reason, hosts, exit_code)


def _flux(*words: str) -> ProgramOutcome:
    return run(["flux", *words], ANSWER_TIMEOUT_S, ASCII)


def _output(path: Path) -> str:
    """The path of a file that Flux writes, unless it would be taken for a template."""
    if "{{" in str(path) or "\n" in str(path):
        raise InputError(
            f"Flux cannot write into {str(path)!r}", "choose an --out without {{ and line end"
        )
    return shlex.quote(str(path))
