"""PBS: qsub, qstat and pbsnodes of OpenPBS and PBS Professional.

From the manual pages and the source of OpenPBS 23, with which it has been tried. Torque and Grid
Engine, whose commands have the same names, are told apart by `qsub --version`.
"""

import collections
import math
import re
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import InputError, MissingError
from nhalf.base.processes import run
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
SUBMIT_TIMEOUT_S = 90.0
_STATES = {
    **{"Q": "queued", "H": "held", "W": "waiting", "T": "in transit", "M": "moved"},
    **{"B": "begun", "R": "running", "E": "exiting", "S": "suspended", "U": "suspended by a user"},
}
"""The letters of job states."""
_WAITING = "QHWTM"
_OVER = "FX"
TERMINATED = "91"
"""The substate of a job that was deleted."""
SIGNAL = 256
"""An exit status from here on is this number and that of the signal that ended the script."""
_KILLED_FOR = {
    **{"-24": "ncpus", "-25": "ncpus", "-26": "vmem", "-27": "mem", "-28": "cput"},
    "-29": "walltime",
}
"""The resource whose limit a job exceeded, by its exit status."""
_ENDED = re.compile(r" and (?=(?:exceeded|failed|terminated)\b)")
_UP = {"free", "busy", "job-busy", "job-exclusive", "resv-exclusive"}
_JOB = re.compile(r"\d+(\.\S+)?")
_NAME_LENGTH_MAX = 230


class Pbs(OptionSystem):
    """OpenPBS and PBS Professional from version 20; without job history they forget ended jobs."""

    description = "qsub of PBS"
    title = "PBS"
    command = "qsub"
    sentinel = "#PBS"
    example = "-l select=4:ncpus=64:mpiprocs=64 -l walltime=0:10:00 -q short"
    ours: ClassVar[Mapping[str, set[str]]] = {
        "name": {"-N"},
        "nodes": {"-l select", "-l nodes"},
        "place": {"-l place", "-l nodes"},
        "time": {"-l walltime"},
        "again": {"-r"},
        "environment": {"-V", "-v"},
    }
    refused: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("-o", "-e", "-j", "-k", "-R"), "it reads RUN/job.out"),
        **dict.fromkeys(("-J",), "a run is one job"),
        **dict.fromkeys(("-S", "-C"), "it writes the script"),
        **dict.fromkeys(("-W block", "-I", "-X"), "it follows the job itself"),
        **dict.fromkeys(("-z", "--version"), ""),
    }

    def is_here(self) -> bool:
        """Whether qsub is found, and that of PBS."""
        if shutil.which("qsub") is None:
            return False
        return "pbs_version" in run(["qsub", "--version"], ANSWER_TIMEOUT_S).stdout

    def names(self, option: str) -> set[str]:
        """What an option sets; -l and -W name it: {'-l place', '-l walltime'}."""
        (name,) = super().names(option)
        if name not in ("-l", "-W"):
            return {name}
        return {f"{name} {part.partition('=')[0]}" for part in value_of(option).split(",")}

    def nodes_in(self, options: Sequence[str]) -> int:
        """The chunks of the last -l select, or the number in -l nodes of old."""
        nodes = 0
        for option in options:
            for part in value_of(option).split(","):
                kind, _, value = part.partition("=")
                if self.names(option) & self.ours["nodes"] and kind in ("select", "nodes"):
                    counts = [re.match(r"(\d+)(?::|$)", chunk) for chunk in value.split("+")]
                    nodes = sum(int(count[1]) if count else 1 for count in counts)
        return nodes

    def requests(self, request: JobRequest) -> list[JobOption]:
        """Whole hosts, for a time, and a script that goes on when a host is lost."""
        cores = f":ncpus={request.cores}:mpiprocs={request.cores}" if request.cores else ""
        chunks = [f"1{cores}:host={host}" for host in request.hosts] or [f"{request.nodes}{cores}"]
        minutes = math.ceil(request.time_s / 60)
        walltime = f"-l walltime={minutes // 60}:{minutes % 60:02}:00" if minutes else ""
        name = re.sub(r"[^\w.+-]|[^\x00-\x7f]", "_", request.name)[:_NAME_LENGTH_MAX]
        return [
            JobOption("name", "What qstat shows.", f"-N {name}"),
            JobOption("nodes", "Hosts, and all of their cores.", f"-l select={'+'.join(chunks)}"),
            JobOption("place", WHY_EXCLUSIVE, "-l place=scatter:excl"),
            JobOption("time", f"{request.time_why.capitalize()}.", walltime),
            JobOption("again", WHY_AGAIN, "-r y"),
            JobOption("environment", "The modules that are loaded here.", "-V"),
            JobOption("", "Otherwise it is the login shell.", "-S /bin/sh"),
            JobOption("", "PBS would overwrite what a job before it said.", "-j oe"),
            JobOption("", "", "-R oe"),
        ]

    def directives(self, request: JobRequest) -> str:
        """The lines with options, and the first command: the script itself writes its output."""
        output = shlex.quote(str(request.output))
        return f"{super().directives(request)}\n\n# {WHY_APPEND}\nexec >>{output} 2>&1"

    def submit(self, script: Path) -> str:
        """`qsub SCRIPT` prints the name of the job, such as '12.server'."""
        outcome = run(["qsub", str(script)], SUBMIT_TIMEOUT_S)
        if outcome.stopped or "cannot connect" in outcome.stderr:
            raise MissingError(f"qsub: {outcome.reason}", "look with qstat -B whether PBS is up")
        if not outcome.succeeded:
            remedy = "give other options with --job; qstat -Q and pbsnodes -a show what there is"
            raise InputError(f"qsub: {outcome.reason}", remedy)
        job = outcome.stdout.strip()
        if not _JOB.fullmatch(job):
            raise MissingError(f"qsub names no job: {outcome.stdout!r}", "look with qstat")
        return job

    def state(self, job: str) -> JobState | None:
        """Ask qstat -x, which remembers jobs that ended if the site keeps their history."""
        attributes = self._attributes(job)
        return read_state(attributes) if attributes else None

    def cancelling(self, job: str) -> str:
        """The command line of qdel."""
        return shlex.join(["qdel", job])

    def usable_hosts(self, options: Sequence[str]) -> list[str]:
        """The hosts that are up in any queue: PBS has no list of those of a queue."""
        return list(_hosts())

    def cores_per_host(self, options: Sequence[str]) -> int:
        """The cores that most hosts have."""
        cores = collections.Counter(number for number in _hosts().values() if number)
        return cores.most_common(1)[0][0] if cores else 0

    def job_here(self, variables: Mapping[str, str]) -> str:
        """The value of PBS_JOBID."""
        return variables.get("PBS_JOBID", "")

    def time_left_s(self, job: str, variables: Mapping[str, str]) -> float | None:
        """The limit, which may change, less the time since the start."""
        try:
            attributes = self._attributes(job)
        except Unreachable:
            return None
        limit_s = seconds_of(attributes.get("Resource_List.walltime", ""))
        try:
            start = time.strptime(attributes.get("stime", ""), "%a %b %d %H:%M:%S %Y")
        except ValueError:
            return limit_s
        return None if limit_s is None else max(0.0, limit_s + time.mktime(start) - time.time())

    def _attributes(self, job: str) -> dict[str, str]:
        """What qstat tells of a job, nothing of one that it has forgotten. Raises Unreachable."""
        for words in (["-x", "-f"], ["-f"]):
            outcome = run(["qstat", *words, job], ANSWER_TIMEOUT_S)
            if "Unknown Job Id" in outcome.stderr or "has finished" in outcome.stderr:
                return {}
            if outcome.stopped or "cannot connect" in outcome.stderr:
                break
            blocks = read_blocks(outcome.stdout)
            if blocks:
                return next(iter(blocks.values()))
        raise Unreachable(f"qstat: {outcome.reason}")


def _hosts() -> dict[str, int]:
    """The hosts that are up, with their cores."""
    blocks = read_blocks(run(["pbsnodes", "-a"], ANSWER_TIMEOUT_S).stdout)
    cores: dict[str, int] = {}
    for vnode, attributes in blocks.items():
        if set(attributes.get("state", "").split(",")) <= _UP:
            host = attributes.get("resources_available.host", vnode)
            ncpus = attributes.get("resources_available.ncpus", "")
            cores[host] = cores.get(host, 0) + (int(ncpus) if ncpus.isdecimal() else 0)
    return cores


def read_blocks(text: str) -> dict[str, dict[str, str]]:
    """The attributes by name of each job or host in an answer of `qstat -f` or `pbsnodes -a`.

    Long values go on in lines that begin with a tab.
    """
    blocks: dict[str, dict[str, str]] = {}
    attributes: dict[str, str] = {}
    for line in text.replace("\n\t", "").splitlines():
        name, equals, value = line.strip().partition(" = ")
        if line and not line[0].isspace():
            attributes = blocks.setdefault(line.removeprefix("Job Id:").strip(), {})
        elif equals:
            attributes[name] = value
    return blocks


def read_state(attributes: Mapping[str, str]) -> JobState:
    """The state in the attributes of a job."""
    letter, status = attributes.get("job_state", ""), attributes.get("Exit_status", "")
    comment = attributes.get("comment", "")
    hosts = ",".join(
        dict.fromkeys(part.partition("/")[0] for part in attributes.get("exec_host", "").split("+"))
    )
    if letter not in _OVER or not letter:
        phase = Phase.WAITING if letter and letter in _WAITING else Phase.RUNNING
        reason = comment.removeprefix("Not Running: ") if phase is Phase.WAITING else ""
        return JobState(_STATES.get(letter, letter), phase, reason, hosts)
    code = int(status) if re.fullmatch(r"-?\d+", status) else None
    if attributes.get("substate") == TERMINATED:
        return JobState("terminated", Phase.CANCELLED, "", hosts, code)
    if code == 0:
        return JobState("finished", Phase.DONE, "", hosts, code)
    return JobState("failed", Phase.BROKEN, _why_failed(status, code, comment), hosts, code)


def _why_failed(status: str, code: int | None, comment: str) -> str:
    """Why a job failed, as its exit status and PBS's comment tell."""
    if status in _KILLED_FOR:
        return f"exceeded resource {_KILLED_FOR[status]}"
    if code is not None and code >= SIGNAL:
        return f"signal {code - SIGNAL}"
    if code is not None and code >= 0:
        return f"exit code {code}"
    return _ENDED.split(comment)[-1]
