"""The hosts that a batch system allocated to this job, from its environment variables."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.sites.hosts import Host, parse_hosts, read_host_file

SINFO_TIMEOUT_S = 20.0
_TIMES = re.compile(r"(\d+)(?:\(x(\d+)\))?")


@dataclass(frozen=True)
class HostAllocation:
    """Hosts, and their source in words: 'Slurm job 12', 'PBS job 7.head'."""

    hosts: list[Host]
    source: str


def allocation(variables: Mapping[str, str]) -> HostAllocation | None:
    """The allocation in a batch system's variables; None outside a job.

    Supports Slurm, PBS and Torque (a file with a line per core), LSF and Grid Engine. Raises
    InputError if they cannot be parsed.
    """
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
    outcome = run(command, SINFO_TIMEOUT_S)
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
