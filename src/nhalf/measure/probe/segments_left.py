# SPDX-License-Identifier: Apache-2.0
"""Shared memory that the ranks of a launch leave behind when they are killed.

MPI libraries and libfabric create files in /dev/shm for the memory that ranks of one host share,
and remove them when they end. Ranks that are killed cannot, so tens of megabytes of each launch
would stay until the machine restarts.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDER = Path("/dev/shm")
NAMES = re.compile(
    r"mpich_shm_\w+"
    r"|Intel_MPI_\w+"
    r"|(vader|sm)_segment\..+"
    r"|ucx_shm_\w+"
    r"|\d+:\d+:\d+|fi_shm_.+"
)
"""Names that MPICH, Intel MPI, Open MPI, UCX and libfabric use."""
PATIENCE_S = 2.0
"""How long killed processes may take to release their memory."""
POLL_S = 0.05


class SegmentsLeft:
    """Removes segments created since the launch began; older ones are not its own."""

    def __init__(self, folder: Path = FOLDER, before: Iterable[str] | None = None) -> None:
        """Remember which segments there are `before` the launch: by default, those of now."""
        self._folder = folder
        self.before = _names(folder) if before is None else frozenset(before)

    def remove(self) -> None:
        """Remove this user's new segments that no process uses."""
        deadline_s = time.monotonic() + PATIENCE_S
        while segments := self._left():
            used = _used(self._folder)
            for path in segments:
                if str(path) not in used:
                    with contextlib.suppress(OSError):
                        path.unlink()
            if time.monotonic() > deadline_s:
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


def _used(folder: Path) -> set[str]:
    """Return the files in the folder that any process visible to this user has mapped or open."""
    return {path for process in Path("/proc").glob("[0-9]*") for path in _of(process, f"{folder}/")}


def _of(process: Path, begin: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for line in (process / "maps").read_text(errors="replace").splitlines():
            if begin in line:
                yield line[line.index(begin) :]
    with contextlib.suppress(OSError):
        for descriptor in os.scandir(process / "fd"):
            with contextlib.suppress(OSError):
                yield os.readlink(descriptor.path)
