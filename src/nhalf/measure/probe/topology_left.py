# SPDX-License-Identifier: Apache-2.0
"""Files of the host's topology that Hydra leaves behind when it is killed.

Each of its proxies writes one for its ranks, with a random name in /tmp, and removes it at its end.
Nobody keeps it open, so a file is taken for a launch's own if no proxy lives that could have
written it.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/tmp")
NAMES = re.compile(r"hydra_hwloc_xmlfile_\w{6}")
PROXY = "hydra_pmi_proxy"
CLOCK_ERROR_S = 0.1
"""Starts of processes are known to a tick, times of files to another."""


class TopologyLeft:
    """Removes files created since the launch began; older ones are not its own."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """Remember when the launch begins."""
        self._folder = folder
        self._began_s = time.time() - CLOCK_ERROR_S

    def remove(self, proxies_began_s: Iterable[float] | None = None) -> None:
        """Remove this user's files that no living proxy can have written."""
        began_s = _proxies_began_s() if proxies_began_s is None else list(proxies_began_s)
        oldest_s = min(began_s, default=float("inf")) - CLOCK_ERROR_S
        with suppress(OSError):
            for name in filter(NAMES.fullmatch, os.listdir(self._folder)):
                path = self._folder / name
                with suppress(OSError):
                    status = path.lstat()
                    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
                    if is_own and self._began_s <= status.st_mtime < oldest_s:
                        path.unlink()


def _proxies_began_s() -> list[float]:
    """When the proxies on this host were started."""
    began_s = []
    booted_s = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            if (folder / "comm").read_text().strip() != PROXY:
                continue
            # The state, and all after it, stand behind the name in brackets.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                began_s.append(booted_s + int(fields[19]) / os.sysconf("SC_CLK_TCK"))
    return began_s
