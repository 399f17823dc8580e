"""The head and the nodes: namespaces with a process that keeps them, and what runs in them."""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.sites.lab import network, slurm
from nhalf.sites.lab.layout import HEAD, Lab
from nhalf.sites.lab.network import NETNS, system_path

KILL_TIMEOUT_S = 20.0


def of_lab(lab: Lab) -> list[int]:
    """Every process in one of its networks, or with its hosts file over /etc/hosts."""
    networks = {inode for place in lab.layout.places if (inode := _network(lab, place))}
    mount_spaces: dict[int, bool] = {}

    def belongs(process: Path) -> bool:
        if _inode(process / "ns/net") in networks:
            return True
        space = _inode(process / "ns/mnt")
        if space not in mount_spaces:
            mount_spaces[space] = _sees_hosts_file(process, lab)
        return mount_spaces[space]

    return _select(belongs)


def of_node(lab: Lab, node: str) -> list[int]:
    """Every process in a node's network."""
    network = _network(lab, node)
    return _select(lambda process: _inode(process / "ns/net") == network)


def kill(find: Callable[[], list[int]]) -> None:
    """Kill processes until `find` returns none; raises FailedError if some survive the limit."""
    deadline = time.monotonic() + KILL_TIMEOUT_S
    while remaining := find():
        for pid in remaining:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            remedy = "see what they wait for, try again"
            raise FailedError(f"processes {remaining} of the lab cannot be killed", remedy)
        time.sleep(0.02)


def running(lab: Lab, pid_file: str) -> int | None:
    """The number in a file of the lab, if such a process runs, and is the lab's."""
    with suppress(OSError, ValueError):
        pid = int((lab.folder / pid_file).read_text())
        if _sees_hosts_file(Path(f"/proc/{pid}"), lab):
            return pid
    return None


def _select(belongs: Callable[[Path], bool]) -> list[int]:
    process_ids = []
    for process in Path("/proc").iterdir():
        # A process may end while it is examined; a zombie has no namespaces.
        with suppress(OSError):
            if process.name.isdigit() and belongs(process):
                process_ids.append(int(process.name))
    return process_ids


def _network(lab: Lab, place: str) -> int | None:
    with suppress(OSError):
        return (NETNS / lab.namespace(place)).stat().st_ino
    return None


def _inode(path: Path) -> int:
    return path.stat().st_ino


def _sees_hosts_file(process: Path, lab: Lab) -> bool:
    """Whether a process has the lab's hosts file mounted; paths may differ if /run is a mount."""
    ending = f"/{lab.folder.parent.name}/{lab.name}/{lab.hosts_file.name}"
    for line in (process / "mountinfo").read_text().splitlines():
        words = line.split()
        if words[4] == "/etc/hosts" and words[3].endswith(ending):
            return True
    return False


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
    deadline = time.monotonic() + START_TIMEOUT_S
    while silent := [place for place in started if not (lab.folder / f"keeper.{place}").exists()]:
        late = time.monotonic() > deadline
        for place in silent:
            if late or started[place].poll() is not None:
                raise FailedError(f"{place} did not start: {_last_words(lab, place)}")
        time.sleep(0.01)


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


def _last_words(lab: Lab, place: str) -> str:
    with suppress(OSError, IndexError):
        return (lab.folder / "log" / f"{place}.log").read_text().splitlines()[-1]
    return "it said nothing"
