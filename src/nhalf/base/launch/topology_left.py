"""Files of the host's topology that Hydra leaves behind when it is killed.

Each of its proxies writes one for its ranks, with a random name in /tmp, and removes it at its end.
Ranks read it in MPI_Init at once, and nobody misses it later. Whose a file is cannot be seen, so
one that a proxy of another launch may have written stays until it is old enough to have been read.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nhalf.base.launch.process_table import BEGAN, PROC, is_running, processes, status
from nhalf.base.open_files import is_first_namespace

FOLDER = Path("/tmp")
NAMES = re.compile(r"hydra_hwloc_xmlfile_\w{6}")
PROXY = "hydra_pmi_proxy"
CLOCK_ERROR_S = 0.1
"""Starts of processes are known to a tick, times of files to another."""
READ_WITHIN_S = 1.0
"""After that, ranks have read a file; one that finds none asks the system itself."""


class TopologyLeft:
    """Removes files created since the launch began; older ones are not its own."""

    def __init__(self, folder: Path = FOLDER, began_s: float | None = None) -> None:
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
            for name in filter(NAMES.fullmatch, os.listdir(self._folder)):
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
