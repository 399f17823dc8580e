"""What the ranks of a launch, and their launcher, leave behind when they are killed.

MPI libraries and libfabric create files in /dev/shm for the memory that ranks of one host share,
and remove them when they end. Ranks that are killed cannot, so tens of megabytes of each launch
would stay until the machine restarts. Only what is theirs may go: what a rank was seen to use, or
what certainly nobody uses.

Each of the proxies of Hydra writes the topology of the host for its ranks, into a file with a
random name in /tmp, and removes it at its end. Ranks read it in MPI_Init at once, and nobody misses
it later. Whose a file is cannot be seen, so one that a proxy of another launch may have written
stays until it is old enough to have been read.
"""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nhalf.base.launch.process_table import BEGAN, PROC, is_running, processes, status
from nhalf.base.open_files import files_in_use, files_of, is_first_namespace, is_in_use

FOLDER = Path("/dev/shm")
NAMES = re.compile(
    r"mpich_(shm|vci)_\w+|mpich_shar_tmp\w+"
    r"|Intel_MPI_\w+|shm-col-space-.+"
    r"|(vader|sm)_segment\..+|open_mpi\.\d+|osc_(sm|rdma|ucx)\..+"
    r"|(ib_shmem|ib_pool|ib_shmem_\w+|mv2_\w+)-.+\.tmp"
    r"|ucx_shm_\w+"
    r"|psm2?_shm\..+"
    r"|pmix-gds-\w+\..+"
    r"|\d+:\d+:\d+|fi_shm_.+"
)
"""Names that MPICH, Intel MPI, Open MPI, MVAPICH, UCX, PSM, PMIx and libfabric use."""
PATIENCE_S = 2.0
"""How long killed processes may take to release their memory."""
POLL_S = 0.05


class SegmentsLeft:
    """Removes segments created since the launch began; older ones are not its own."""

    def __init__(
        self, folder: Path = FOLDER, before: Iterable[str] | None = None, own: Iterable[str] = ()
    ) -> None:
        """Remember which segments there are `before` the launch: by default, those of now.

        `own` are the names of those that its ranks were seen to use.
        """
        self._folder = folder
        self.before = _names(folder) if before is None else frozenset(before)
        self.own = set(own)

    def look(self, members: Iterable[int]) -> None:
        """Note what these processes of the launch use, before they end."""
        begin = f"{self._folder}/"
        for process in members:
            with contextlib.suppress(OSError):
                names = (path.removeprefix(begin) for path in files_of(process))
                self.own.update(filter(NAMES.fullmatch, names))

    def remove(self) -> None:
        """Remove this user's new segments that no process uses.

        Where processes may be hidden, only those that the launch was seen to use.
        """
        deadline_s = time.monotonic() + PATIENCE_S
        # Listed before the look: who makes one meanwhile is not seen.
        while segments := self._left():
            used = files_in_use()
            ours = [path for path in segments if used.is_all or path.name in self.own]
            for path in ours:
                if path.name not in used.names and not is_in_use(path):
                    with contextlib.suppress(OSError):
                        path.unlink()
            if time.monotonic() > deadline_s or not ours:
                return
            time.sleep(POLL_S)

    def _left(self) -> list[Path]:
        names = _names(self._folder) - self.before
        paths = [self._folder / name for name in names if NAMES.fullmatch(name)]
        return [path for path in paths if _is_own(path)]


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _is_own(path: Path) -> bool:
    """Whether a path is a regular file of this user."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


TOPOLOGY_FOLDER = Path("/tmp")
TOPOLOGY_NAMES = re.compile(r"hydra_hwloc_xmlfile_\w{6}")
PROXY = "hydra_pmi_proxy"
CLOCK_ERROR_S = 0.1
"""Starts of processes are known to a tick, times of files to another."""
READ_WITHIN_S = 1.0
"""After that, ranks have read a file; one that finds none asks the system itself."""


class TopologyLeft:
    """Removes files created since the launch began; older ones are not its own."""

    def __init__(self, folder: Path = TOPOLOGY_FOLDER, began_s: float | None = None) -> None:
        """Remember when the launch began: by default, now."""
        self._folder = folder
        self.began_s = time.time() if began_s is None else began_s

    def remove(self, proxies_began_s: Iterable[float] | None = None) -> None:
        """Remove this user's files; waits for young ones that a living proxy may have written."""
        began_s = _proxies_began_s() if proxies_began_s is None else list(proxies_began_s)
        # Proxies that cannot be seen may have begun at any time.
        hidden_s = float("inf") if is_first_namespace() else 0.0
        oldest_s = min([*began_s, hidden_s]) - CLOCK_ERROR_S
        for path, written_s in self._own().items():
            if written_s >= oldest_s:
                time.sleep(max(0.0, written_s + READ_WITHIN_S - time.time()))
            with suppress(OSError):
                path.unlink()

    def _own(self) -> dict[Path, float]:
        """When each file of this user was written, since the launch began."""
        files = {}
        with suppress(OSError):
            for name in filter(TOPOLOGY_NAMES.fullmatch, os.listdir(self._folder)):
                path = self._folder / name
                with suppress(OSError):
                    status = path.lstat()
                    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
                    if is_own and self.began_s - CLOCK_ERROR_S <= status.st_mtime <= time.time():
                        files[path] = status.st_mtime
        return files


def _proxies_began_s() -> list[float]:
    """When the proxies on this host were started."""
    began_s = []
    booted_s = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    for process in processes():
        with suppress(OSError, ValueError, IndexError):
            if (PROC / str(process) / "comm").read_text().strip() == PROXY and is_running(process):
                ticks = int(status(process)[BEGAN])
                began_s.append(booted_s + ticks / os.sysconf("SC_CLK_TCK"))
    return began_s
