"""Slurm's configuration for a lab, and its state according to Slurm."""

import re
import time
from datetime import datetime
from typing import Any

from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.sites.lab import network
from nhalf.sites.lab.layout import HEAD, Lab

CONTROLLER_PORT, DAEMON_PORT = 6817, 6818
READY_TIMEOUT_S = 30.0
POLL_S = 0.05


def configuration(lab: Lab) -> str:
    """The text of slurm.conf: all files inside the lab's folder, on the lab's own addresses."""
    folder = lab.folder
    lines = [
        f"ClusterName={lab.name}",
        f"SlurmctldHost={HEAD}({lab.address(HEAD)})",
        f"SlurmctldPort={CONTROLLER_PORT}",
        "SlurmUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge.socket",
        "CredType=cred/munge",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool/%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd.%n.pid",
        f"SlurmctldLogFile={folder}/log/slurmctld.log",
        f"SlurmdLogFile={folder}/log/slurmd.%n.log",
        # No control groups, no binding: nodes share the cores of one machine.
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU",
        "SlurmdParameters=config_overrides",
        "MpiDefault=none",
        "SwitchType=switch/none",
        # No node forwards messages for others, so a dead node takes none with it.
        "TreeWidth=65533",
        # A dead node is noticed soon, but a busy one does not count as dead.
        "SlurmdTimeout=30",
        "ReturnToService=2",
        "KillWait=5",
        "UnkillableStepTimeout=30",
        "InactiveLimit=0",
        # A job that waits starts soon after others have left; Slurm looks every minute otherwise.
        "SchedulerParameters=sched_interval=1,bf_interval=1",
    ]
    lines += [
        f"NodeName={node} NodeHostname={node} NodeAddr={lab.address(node)} Port={DAEMON_PORT} "
        f"CPUs={lab.cpus} State=UNKNOWN"
        for node in lab.layout.nodes
    ]
    lines.append(
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES"
    )
    return "".join(f"{line}\n" for line in lines)


def hosts(lab: Lab, present: str) -> str:
    """The text of a hosts file: the lab's places first, then the machine's entries."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{lab.address(place)} {place}" for place in (HEAD, *lab.layout.nodes)]
    return "".join(f"{line}\n" for line in lines) + present


def node_states(lab: Lab) -> dict[str, str]:
    """Slurm's state of each node: idle, allocated, mixed, down …; empty if it does not answer."""
    lines = _ask(lab, "sinfo", "--noheader", "--Node", "--format=%N %T")
    return dict(line.split(maxsplit=1) for line in lines if " " in line)


def jobs(lab: Lab) -> list[dict[str, Any]]:
    """The jobs that wait or run: number, name, state, nodes."""
    lines = _ask(lab, "squeue", "--noheader", "--format=%A|%j|%T|%N")
    keys = ("job", "name", "state", "nodes")
    return [dict(zip(keys, line.split("|"), strict=True)) for line in lines if "|" in line]


def wait_until_idle(lab: Lab, timeout_s: float = READY_TIMEOUT_S) -> None:
    """Wait until Slurm reports all nodes idle; raises FailedError with the folder of its logs."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        states = node_states(lab)
        if set(states) == set(lab.layout.nodes) and set(states.values()) == {"idle"}:
            return
        time.sleep(POLL_S)
    waited = [f"{node} {node_states(lab).get(node, 'silent')}" for node in lab.layout.nodes]
    raise FailedError(
        f"Slurm was not ready within {timeout_s:g} s ({', '.join(waited[:8])})",
        f"look into {lab.folder}/log, then: nhalf lab down --name {lab.name}",
    )


def wait_until_back(lab: Lab, node: str, since_s: float, timeout_s: float = READY_TIMEOUT_S) -> str:
    """Slurm's state of a node as soon as its slurmd, started after `since_s`, has registered.

    `since_s` are seconds of the epoch. Raises FailedError if that takes too long.
    """
    earliest = datetime.fromtimestamp(int(since_s))
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        description = "".join(_ask(lab, "scontrol", "show", "node", node))
        started = re.search(r"SlurmdStartTime=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", description)
        if started and datetime.fromisoformat(started[1]) >= earliest:
            return node_states(lab).get(node, "silent")
        time.sleep(POLL_S)
    raise FailedError(
        f"Slurm did not hear of {node} within {timeout_s:g} s", f"look into {lab.folder}/log"
    )


def _ask(lab: Lab, *command: str) -> list[str]:
    line = [*network.inside(lab, HEAD), *command]
    outcome = run(line, 15.0, {"SLURM_CONF": str(lab.slurm_conf)})
    return outcome.stdout.splitlines() if outcome.succeeded else []
