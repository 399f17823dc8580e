"""The head and the nodes: namespaces with a process that keeps them, and Slurm's daemons inside."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.sites.lab import network, slurm
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
mount --bind "$folder/boot/$place" /proc/sys/kernel/random/boot_id
mount -t tmpfs tmpfs /dev/shm
hostname "$place" 2>/dev/null || echo "$place" >/proc/sys/kernel/hostname
export SLURM_CONF="$folder/slurm.conf"
for daemon; do sh -c "$daemon"; done
echo $$ >"$folder/keeper.$place.part"
mv "$folder/keeper.$place.part" "$folder/keeper.$place"
exec sleep infinity
"""
"""Script of the first process of a place. The last line keeps its namespaces when daemons die.

A place has its own boot id, by which libraries detect whether two ranks share memory, and its own
shared memory, so that they cannot.
"""


def write_files(lab: Lab) -> None:
    """Write all files that the daemons read: configuration, hosts, key."""
    folder = lab.folder
    for name in ("state", "log", "boot", "bin", *(f"spool/{node}" for node in lab.layout.nodes)):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lab.slurm_conf.write_text(slurm.configuration(lab))
    present = Path("/etc/hosts")
    lab.hosts_file.write_text(slurm.hosts(lab, present.read_text() if present.exists() else ""))
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))


def start(lab: Lab, *places: str) -> None:
    """Start places with their daemons, all at once."""
    started = {}
    for place in places:
        (lab.folder / f"keeper.{place}").unlink(missing_ok=True)
        # As a machine has after each start.
        boot_id = Path("/proc/sys/kernel/random/uuid").read_text()
        (lab.folder / "boot" / place).write_text(boot_id)
        started[place] = _start(lab, place)
    _wait_for_keepers(lab, started)


def _daemons(lab: Lab, place: str) -> list[str]:
    folder = lab.folder
    if place != HEAD:
        return [f"slurmd -N {place} -f {lab.slurm_conf}"]
    munged = (
        f"munged --force --key-file={folder}/munge.key --socket={folder}/munge.socket "
        f"--pid-file={folder}/munged.pid --log-file={folder}/log/munged.log "
        f"--seed-file={folder}/munge.seed"
    )
    return [munged, f"slurmctld -f {lab.slurm_conf}"]


def keeper(lab: Lab, place: str) -> int | None:
    """The process that keeps the namespaces of the head or of a node, if it lives."""
    return running(lab, f"keeper.{place}")


def _start(lab: Lab, place: str) -> Process:
    namespaces = ["unshare", "--uts", "--mount", "--ipc", "--propagation", "slave"]
    line = [*network.inside(lab, place), *namespaces, "sh", "-c", ENTER, "nhalf-lab"]
    with (lab.folder / "log" / f"{place}.log").open("ab") as log:
        return subprocess.Popen(
            [*line, str(lab.folder), place, *_daemons(lab, place)],
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
