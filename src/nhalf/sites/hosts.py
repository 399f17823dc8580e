"""Hosts to measure on: lists in the notation of users and schedulers, files, and allocations."""

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError, MissingError
from nhalf.base.processes import run

HOSTS_MAX = 100_000
"""Longer lists are typing errors such as n[1-9999999999]."""
_ITEM = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_SLOTS = re.compile(r"(?<![-_\w])(?:slots|cpus?|np|ppn|count)\s*=\s*(\d+)", re.IGNORECASE)
_MOST_SLOTS = re.compile(r"\bmax[-_]slots\s*=\s*(\d+)", re.IGNORECASE)
_RANK = re.compile(r"rank\s*\d+\s*=", re.IGNORECASE)
"""Begins each line of a rank file of Open MPI."""


@dataclass(frozen=True)
class Host:
    """A host by its name; `cores` is the number of ranks it may hold, 0 if unspecified."""

    name: str
    cores: int = 0

    def __str__(self) -> str:
        """The notation that `parse_hosts` reads: 'n1:4', or 'n1' if its cores are unknown."""
        return f"{self.name}:{self.cores}" if self.cores else self.name


def short_name(name: str) -> str:
    """A host's name without its domain: launchers and kernels disagree on the rest."""
    return name.partition(".")[0]


def parse_hosts(text: str) -> list[Host]:
    """The hosts in 'a,b:4,n[1-3,7]'; the cores of a repeated host are added.

    Raises InputError for any other text.
    """
    return _merged(_listed(text))


def _listed(text: str) -> list[Host]:
    items = _ITEM.findall(text)
    if not items or ",".join(items) != text:
        raise _no_hosts(text)
    hosts: list[Host] = []
    for item in items:
        written, colon, cores = item.strip().partition(":")
        if colon and not (cores.isdecimal() and int(cores) > 0):
            raise InputError(f"{item!r} does not say how many cores", "write a host as n1:4")
        hosts += [Host(name, int(cores or 0)) for name in _expand(written)]
    return hosts


def read_host_file(path: Path) -> list[Host]:
    """The hosts in a file, one per line: 'n1', 'n1:4' (Hydra) or 'n1 slots=4' (Open MPI).

    A comment begins with #; a host on several lines has as many cores. Raises InputError for
    a file that cannot be read, names no host, or places single ranks.
    """
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"the host file {path} cannot be read: {reason}") from error
    hosts: list[Host] = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if _RANK.match(" ".join(words)):
            raise InputError(
                f"{path}, line {number}: this is a rank file, which places single ranks, and not "
                "a host file",
                "write a host on each line, e.g. n1 slots=4; --placement places ranks",
            )
        text = " ".join(words[1:])
        match = re.match(r"(\d+)(?!\S)", text) or _SLOTS.search(text) or _MOST_SLOTS.search(text)
        slots = int(match[1]) if match else 0
        try:
            line_hosts = parse_hosts(words[0])
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error.message}", error.remedy) from error
        hosts += [Host(host.name, slots or host.cores or 1) for host in line_hosts]
    if not hosts:
        raise InputError(f"the host file {path} names no host", "write a name on each line")
    return _merged(hosts)


def named_hosts(hosts: str, host_file: Path | str | None) -> list[Host]:
    """The hosts of a list or a file, none if neither is given; raises InputError for both."""
    if hosts and host_file:
        raise InputError("--hosts and --host-file name hosts twice", "give one of them")
    if host_file:
        return read_host_file(Path(host_file))
    return parse_hosts(hosts) if hosts else []


def _merged(hosts: Iterable[Host]) -> list[Host]:
    """Each host once, with its cores added up."""
    cores: dict[str, int] = {}
    for host in hosts:
        cores[host.name] = cores.get(host.name, 0) + host.cores
    return [Host(name, number) for name, number in cores.items()]


def _expand(written: str) -> list[str]:
    """The names in 'n[1-3,07]-ib[0-1]': numbers keep their leading zeros."""
    brackets = _BRACKETS.search(written)
    if brackets is None:
        if not _NAME.fullmatch(written):
            raise _no_hosts(written)
        return [written]
    names: list[str] = []
    for part in brackets[1].split(","):
        for number in _numbers(part, written):
            names += _expand(written[: brackets.start()] + number + written[brackets.end() :])
            if len(names) > HOSTS_MAX:
                raise InputError(f"{written!r} names more than {HOSTS_MAX} hosts")
    return names


def _numbers(part: str, written: str) -> Iterable[str]:
    first, dash, last = part.strip().partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise _no_hosts(written)
    low, high = int(first), int(last or first)
    if low > high:
        raise InputError(f"{part!r} in {written!r} runs backwards", f"write {high}-{low}")
    if high - low >= HOSTS_MAX:
        raise InputError(f"{written!r} names more than {HOSTS_MAX} hosts")
    return (str(number).zfill(len(first)) for number in range(low, high + 1))


def _no_hosts(text: str) -> InputError:
    return InputError(f"{text!r} is no list of hosts", "write n1,n2 or n[1-4] or n1:4,n2:4")


ASK_TIMEOUT_S = 20.0
_TIMES = re.compile(r"(\d+)(?:\(x(\d+)\))?")


@dataclass(frozen=True)
class HostAllocation:
    """Hosts, and their source in words: 'Slurm job 12', 'PBS job 7.head'."""

    hosts: list[Host]
    source: str


def allocation(variables: Mapping[str, str]) -> HostAllocation | None:
    """The allocation in a batch system's variables; None outside a job.

    Supports Slurm, Flux, PBS and Torque (a file with a line per core), LSF and Grid Engine. Raises
    InputError if they cannot be parsed, MissingError if Flux does not answer.
    """
    if variables.get("FLUX_URI") and not variables.get("FLUX_JOB_ID"):
        job = variables.get("FLUX_ENCLOSING_ID", "")
        return HostAllocation(_flux(), f"Flux job {job}" if job else "Flux instance")
    if variables.get("SLURM_JOB_NODELIST"):
        return HostAllocation(_slurm(variables), f"Slurm job {variables.get('SLURM_JOB_ID', '?')}")
    if variables.get("PBS_NODEFILE"):
        hosts = read_host_file(Path(variables["PBS_NODEFILE"]))
        return HostAllocation(hosts, f"PBS job {variables.get('PBS_JOBID', '?')}")
    if variables.get("LSB_MCPU_HOSTS"):
        words = variables["LSB_MCPU_HOSTS"].split()
        pairs = zip(words[::2], words[1::2], strict=False)
        hosts = parse_hosts(",".join(f"{name}:{cores}" for name, cores in pairs))
        return HostAllocation(hosts, f"LSF job {variables.get('LSB_JOBID', '?')}")
    if variables.get("PE_HOSTFILE"):
        hosts = read_host_file(Path(variables["PE_HOSTFILE"]))
        return HostAllocation(hosts, f"Grid Engine job {variables.get('JOB_ID', '?')}")
    return None


def idle_hosts() -> HostAllocation:
    """The hosts of Slurm's default partition on which srun could start now.

    Raises MissingError if there is no Slurm, or no host to be had.
    """
    if shutil.which("sinfo") is None:
        raise MissingError("there is no Slurm here: sinfo is not found", "load its module")
    command = ["sinfo", "--noheader", "--Node", "--states=idle,mixed", "--format=%N %c %P"]
    outcome = run(command, ASK_TIMEOUT_S)
    if not outcome.succeeded:
        raise MissingError(f"sinfo: {outcome.reason}", "look whether slurmctld is up")
    rows = [line.split() for line in outcome.stdout.splitlines() if len(line.split()) == 3]
    chosen = [row for row in rows if row[2].endswith("*")] or rows
    if not chosen:
        raise MissingError("Slurm has no idle host", "wait, or run inside an allocation")
    cores = {name: int(cpus) for name, cpus, _ in chosen if cpus.isdecimal()}
    return HostAllocation(
        [Host(name, number) for name, number in cores.items()], "idle under Slurm"
    )


def _slurm(variables: Mapping[str, str]) -> list[Host]:
    """The hosts of SLURM_JOB_NODELIST with their cores, from '4(x3),2'; a task may need several."""
    hosts = parse_hosts(variables["SLURM_JOB_NODELIST"])
    for name in ("SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE"):
        cores = [
            int(match[1])
            for match in _TIMES.finditer(variables.get(name, ""))
            for _ in range(int(match[2] or 1))
        ]
        if len(cores) == len(hosts):
            return [Host(host.name, number) for host, number in zip(hosts, cores, strict=True)]
    return hosts


def _flux() -> list[Host]:
    """The hosts of the instance of Flux around this process, with their cores.

    `flux resource R` prints them as JSON: names in order, and the cores of ranges of them.
    """
    outcome = run(["flux", "resource", "R"], ASK_TIMEOUT_S)
    if not outcome.succeeded:
        raise MissingError(f"flux resource R: {outcome.reason}", "name hosts with --hosts")
    try:
        execution = json.loads(outcome.stdout)["execution"]
        cores = {
            int(rank): _count(part["children"].get("core", ""))
            for part in execution["R_lite"]
            for ranks in part["rank"].split(",")
            for rank in _numbers(ranks, part["rank"])
        }
        names = [host.name for text in execution["nodelist"] for host in _listed(text)]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"flux resource R cannot be read: {error}", "use --hosts") from error
    return _merged(Host(name, cores.get(rank, 0)) for rank, name in enumerate(names))


def _count(numbers: str) -> int:
    """How many numbers '0-3,8' has."""
    return sum(len(list(_numbers(part, numbers))) for part in numbers.split(",")) if numbers else 0
