"""The processes of a lab, identified by their namespaces and mounts, so that none is missed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.sites.lab.network import NETNS
from nhalf.sites.lab.state import Lab

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
            raise FailedError(
                f"processes {remaining} of the lab cannot be killed",
                "see what they wait for, try again",
            )
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
