# SPDX-License-Identifier: Apache-2.0
"""Session folders of Open MPI 5, which its launcher names after its process ID.

A launcher that is killed leaves its own behind. Process IDs come round again, and a later launcher
with that ID fails (exit code 213, "listener thread failed to start") for whoever calls it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

NAME = re.compile(r"ompi\.(\d+)")


def remove_session_folders(launchers: Iterable[int]) -> None:
    """Remove what these processes left, which have ended and may have been launchers."""
    for launcher in launchers:
        _remove(Path(tempfile.gettempdir()) / f"ompi.{launcher}")


def abandoned_sessions() -> list[int]:
    """The launchers on this host that have ended and left a folder."""
    with suppress(OSError):
        names = [NAME.fullmatch(name) for name in os.listdir(tempfile.gettempdir())]
        launchers = [int(match[1]) for match in names if match]
        return [launcher for launcher in launchers if not Path(f"/proc/{launcher}").exists()]
    return []


def _remove(folder: Path) -> None:
    with suppress(OSError):
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)
