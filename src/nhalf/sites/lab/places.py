# SPDX-License-Identifier: Apache-2.0
"""The head and the nodes: namespaces with a process that keeps them, and Slurm's daemons inside."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.sites.lab import slurm
from nhalf.sites.lab.command import system_path
from nhalf.sites.lab.layout import HEAD
from nhalf.sites.lab.processes import running
from nhalf.sites.lab.state import Lab

START_TIMEOUT_S = 20.0
Process = subprocess.Popen[bytes]

ENTER = """
set -e
folder=$1 place=$2; shift 2
mount --bind "$folder/hosts" /etc/hosts
if [ -f "$folder/boot/$place" ]; then
  mount --bind "$folder/boot/$place" /proc/sys/kernel/random/boot_id
  mount -t tmpfs tmpfs /dev/shm
fi
hostname "$place" 2>/dev/null || echo "$place" >/proc/sys/kernel/hostname
export SLURM_CONF="$folder/slurm.conf"
for daemon; do sh -c "$daemon"; done
echo $$ >"$folder/keeper.$place.part"
mv "$folder/keeper.$place.part" "$folder/keeper.$place"
exec sleep infinity
"""
"""Script of the first process of a place. The last line keeps its namespaces when daemons die.

A node has its own boot id, by which libraries detect whether two ranks share memory, and its own
shared memory, so that they cannot.
"""


def write_files(lab: Lab) -> None:
    """Write all files that the daemons read: configuration, hosts, key, boot ids."""
    folder = lab.folder
    for name in ("state", "log", "boot", "bin", *(f"spool/{node}" for node in lab.layout.nodes)):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lab.slurm_conf.write_text(slurm.configuration(lab))
    present = Path("/etc/hosts")
    lab.hosts_file.write_text(slurm.hosts(lab, present.read_text() if present.exists() else ""))
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    for node in lab.layout.nodes:
        new_boot_id(lab, node)


def new_boot_id(lab: Lab, node: str) -> None:
    """Give a node a new boot id, as a machine has after each start."""
    text = Path("/proc/sys/kernel/random/uuid").read_text()
    (lab.folder / "boot" / node).write_text(text)


def start_head(lab: Lab) -> None:
    """Start the head: this machine's network with its own host name, munged and slurmctld."""
    folder = lab.folder
    munged = (
        f"munged --force --key-file={folder}/munge.key --socket={folder}/munge.socket "
        f"--pid-file={folder}/munged.pid --log-file={folder}/log/munged.log "
        f"--seed-file={folder}/munge.seed"
    )
    unshared = ["unshare", "--uts", "--mount", "--propagation", "slave"]
    daemons = [munged, f"slurmctld -f {lab.slurm_conf}"]
    _wait_for_keepers(lab, {HEAD: _start(lab, HEAD, unshared, daemons)})


def start_nodes(lab: Lab, nodes: list[str]) -> None:
    """Start nodes with their slurmd, all at once."""
    started = {}
    for node in nodes:
        (lab.folder / f"keeper.{node}").unlink(missing_ok=True)
        inside = [
            *("nsenter", f"--net=/run/netns/{lab.namespace(node)}"),
            *("unshare", "--uts", "--mount", "--ipc", "--propagation", "slave"),
        ]
        daemons = [f"slurmd -N {node} -f {lab.slurm_conf}"]
        started[node] = _start(lab, node, inside, daemons)
    _wait_for_keepers(lab, started)


def keeper(lab: Lab, place: str) -> int | None:
    """The process that keeps the namespaces of the head or of a node, if it lives."""
    return running(lab, f"keeper.{place}")


def _start(lab: Lab, place: str, namespaces: list[str], daemons: list[str]) -> Process:
    with (lab.folder / "log" / f"{place}.log").open("ab") as log:
        return subprocess.Popen(
            [*namespaces, "sh", "-c", ENTER, "nhalf-lab", str(lab.folder), place, *daemons],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env={**os.environ, "PATH": system_path()},
        )


def _wait_for_keepers(lab: Lab, started: dict[str, Process]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while silent := [place for place in started if not (lab.folder / f"keeper.{place}").exists()]:
        late = time.monotonic() > deadline
        for place in silent:
            if late or started[place].poll() is not None:
                raise FailedError(f"{place} did not start: {_last_words(lab, place)}")
        time.sleep(0.01)


def _last_words(lab: Lab, place: str) -> str:
    with suppress(OSError, IndexError):
        return (lab.folder / "log" / f"{place}.log").read_text().splitlines()[-1]
    return "it said nothing"
