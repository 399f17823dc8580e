"""Slurm: sbatch, scontrol and sacct, squeue for the remaining time, sinfo for hosts."""

import math
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import InputError, MissingError
from nhalf.base.processes import ProgramOutcome, run
from nhalf.sites.batch import (
    WHY_AGAIN,
    WHY_APPEND,
    WHY_EXCLUSIVE,
    JobOption,
    JobRequest,
    JobState,
    OptionSystem,
    Phase,
    Unreachable,
    seconds_of,
    value_of,
)

ANSWER_TIMEOUT_S = 30.0
"""Slurm's commands give up on an unreachable controller after 9 to 20 s."""
SUBMIT_TIMEOUT_S = 90.0

_WAITING = {
    *("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD"),
    "SPECIAL_EXIT",
}
_BROKEN = {
    *("BOOT_FAIL", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED"),
    "TIMEOUT",
}
_STATE = re.compile(r"^\s*JobState=(\S+)(?:\s+Reason=(.*?))?(?=\s+\w+=|$)", re.MULTILINE)
_HOSTS = re.compile(r"^\s*NodeList=(\S*)", re.MULTILINE)
_EXIT = re.compile(r"\bExitCode=(\d+):(\d+)")
_NO_REASON = ("", "None", "(null)")


class Slurm(OptionSystem):
    """Slurm from version 20 on; without accounting it forgets a job some minutes after its end."""

    description = "sbatch of Slurm"
    title = "Slurm"

    command = "sbatch"
    sentinel = "#SBATCH"
    example = "--nodes=4 --time=10:00"
    ours: ClassVar[Mapping[str, set[str]]] = {
        "name": {"-J", "--job-name"},
        "nodes": {"-N", "--nodes"},
        "hosts": {"-w", "--nodelist"},
        "exclusive": {"--exclusive", "-s", "--oversubscribe", "--share"},
        "time": {"-t", "--time"},
        "kill": {"-k", "--no-kill"},
        "requeue": {"--requeue", "--no-requeue"},
    }
    refused: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("-o", "--output", "-e", "--error", "--open-mode"), "it reads RUN/job.out"),
        **dict.fromkeys(("-a", "--array"), "a run is one job"),
        **dict.fromkeys(("--wrap", "-i", "--input", "-D", "--chdir"), "it writes the script"),
        **dict.fromkeys(("-W", "--wait"), "it follows the job itself"),
        **dict.fromkeys(
            ("-h", "--help", "--usage", "-V", "--version", "--test-only", "--parsable"), ""
        ),
    }

    def requests(self, request: JobRequest) -> list[JobOption]:
        """Whole hosts, for a time, and a script that goes on when a host is lost."""
        hosts = f"--nodelist={','.join(request.hosts)}" if request.hosts else ""
        minutes = math.ceil(request.time_s / 60)
        limit = f"--time={minutes}" if minutes else ""
        # sbatch reads it as one word, and understands quotes of shells.
        name = shlex.quote(re.sub(r"[\s\\]+", " ", request.name))
        goes_on = "The loss of a host does not end the job: the others continue."
        return [
            JobOption("name", "What squeue shows.", f"--job-name={name}"),
            JobOption("nodes", "Hosts for the largest placement.", f"--nodes={request.nodes}"),
            JobOption("hosts", "The hosts that --hosts names.", hosts),
            JobOption("exclusive", WHY_EXCLUSIVE, "--exclusive"),
            JobOption("time", f"Minutes: {request.time_why}.", limit),
            JobOption("kill", goes_on, "--no-kill"),
            JobOption("requeue", WHY_AGAIN, "--requeue"),
            JobOption("", WHY_APPEND, "--open-mode=append"),
            JobOption("", "", f"--output={_output(request.output)}"),
        ]

    def submit(self, script: Path) -> str:
        """`sbatch --test-only`, because many sites queue impossible jobs; then `sbatch`."""
        _check_accepted(run(["sbatch", "--test-only", str(script)], SUBMIT_TIMEOUT_S))
        outcome = run(["sbatch", "--parsable", str(script)], SUBMIT_TIMEOUT_S)
        _check_accepted(outcome)
        job = outcome.stdout.strip().splitlines()[-1:]
        if not job or not re.fullmatch(r"\d+(;\S+)?", job[0]):
            raise MissingError(f"sbatch names no job: {outcome.stdout!r}", "look with squeue")
        return job[0]

    def state(self, job: str) -> JobState | None:
        """Ask scontrol, which keeps jobs for some minutes after their end, then sacct."""
        number, cluster = _split(job)
        outcome = run(["scontrol", *cluster, "show", "job", number], ANSWER_TIMEOUT_S)
        if outcome.succeeded:
            return read_scontrol(outcome.stdout)
        if "Invalid job id" not in outcome.stderr:
            raise Unreachable(f"scontrol: {outcome.reason}")
        words = ["--allocations", "--noheader", "--parsable2", "--format=State,ExitCode,NodeList"]
        outcome = run(["sacct", *cluster, f"--jobs={number}", *words], ANSWER_TIMEOUT_S)
        return read_sacct(outcome.stdout) if outcome.succeeded else None

    def cancelling(self, job: str) -> str:
        """The command line of scancel."""
        number, cluster = _split(job)
        return shlex.join(["scancel", *cluster, number])

    def usable_hosts(self, options: Sequence[str]) -> list[str]:
        """The hosts of a partition, else of the default one, that answer and are not drained."""
        partitions = [
            value_of(option) for option in options if self.names(option) & {"-p", "--partition"}
        ]
        words = ["--states=idle,mixed,allocated,completing,reserved", "--format=%N %P"]
        if partitions:
            words.append(f"--partition={partitions[-1]}")
        command = ["sinfo", "--noheader", "--Node", "--responding", *words]
        rows = [line.split() for line in run(command, ANSWER_TIMEOUT_S).stdout.splitlines()]
        rows = [row for row in rows if len(row) == 2]
        chosen = [row for row in rows if partitions or row[1].endswith("*")] or rows
        return list(dict.fromkeys(name for name, _ in chosen))

    def job_here(self, variables: Mapping[str, str]) -> str:
        """The value of SLURM_JOB_ID."""
        return variables.get("SLURM_JOB_ID", "")

    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """Ask squeue, because limits change; without an answer take SLURM_JOB_END_TIME."""
        number, cluster = _split(job)
        words = [f"--jobs={number}", "--noheader", "--format=%L"]
        outcome = run(["squeue", *cluster, *words], ANSWER_TIMEOUT_S)
        if outcome.succeeded and outcome.stdout.strip():
            return seconds_of(outcome.stdout.strip())
        end = variables.get("SLURM_JOB_END_TIME", "")
        return max(0.0, int(end) - time.time()) if end.isdecimal() else None


def read_scontrol(text: str) -> JobState | None:
    """The state that `scontrol show job` prints; None if it prints none."""
    state, hosts, code = _STATE.search(text), _HOSTS.search(text), _EXIT.search(text)
    if state is None:
        return None
    host_list = hosts[1] if hosts else ""
    return JobState(
        name=state[1],
        phase=_phase(state[1]),
        reason="" if state[2] in (None, *_NO_REASON) else state[2].replace("_", " "),
        hosts="" if host_list in _NO_REASON else host_list,
        exit_code=int(code[1]) if code else None,
    )


def read_sacct(text: str) -> JobState | None:
    """The state in the first line of `sacct --parsable2 --format=State,ExitCode,NodeList`."""
    parts = next(iter(text.splitlines()), "").split("|")
    if len(parts) != 3 or not parts[0]:
        return None
    name, _, reason = parts[0].partition(" ")  # 'CANCELLED by 1000'
    code = parts[1].partition(":")[0]
    hosts = "" if parts[2] == "None assigned" else parts[2]
    return JobState(name, _phase(name), reason, hosts, int(code) if code.isdecimal() else None)


def _phase(name: str) -> Phase:
    """The common state of a Slurm state; an unknown one counts as running."""
    word = name.rstrip("+").partition(" ")[0]
    if word in _WAITING:
        return Phase.WAITING
    if word in _BROKEN:
        return Phase.BROKEN
    return {"COMPLETED": Phase.DONE, "CANCELLED": Phase.CANCELLED}.get(word, Phase.RUNNING)


def _check_accepted(outcome: ProgramOutcome) -> None:
    """Raises the error for a refusal by sbatch."""
    if outcome.succeeded:
        return
    lines = [line.strip() for line in outcome.stderr.splitlines() if line.strip()]
    message = re.sub(r"^(sbatch: )?((fatal|error): )*", "", lines[0] if lines else outcome.reason)
    down = ("Unable to contact", "timed out", "cannot stat file", "Unable to process config")
    if any(text in line for line in lines for text in ("resolve_ctls", "configuration source")):
        raise MissingError(
            "there is no Slurm here: sbatch finds no configuration of a cluster",
            "submit on a login node, or run here without --submit",
        )
    if outcome.stopped or any(text in line for line in lines for text in down):
        raise MissingError(f"sbatch: {message}", "look with sinfo whether Slurm is up")
    raise InputError(
        f"sbatch: {message}", "give other options with --job; sinfo shows what there is"
    )


def _split(job: str) -> tuple[str, list[str]]:
    """The number of a job, and the arguments that name its cluster if it has one."""
    number, _, cluster = job.partition(";")
    return number, [f"--clusters={cluster}"] if cluster else []


def _output(path: Path) -> str:
    """The path of a file that sbatch writes, with %j and the like protected from replacement."""
    text = str(path)
    if "\\" in text or "\n" in text:
        raise InputError(
            f"Slurm cannot write into {text!r}", "choose an --out without backslash and line end"
        )
    return shlex.quote(text.replace("%", "%%"))
