"""Session folders of Open MPI 5, which its launcher names after its process ID.

A launcher that is killed leaves its own behind. Process IDs come round again, and a later launcher
with that ID fails (exit code 213, "listener thread failed to start") for whoever calls it.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import tempfile
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from nhalf.base.open_files import files_in_use, files_of

NAME = re.compile(r"ompi\.(\d+)")
ADDRESS = re.compile(r"pmix\.(.+?)\.(?:tool|sys)")


def used_session_folders(launchers: Iterable[int]) -> set[Path]:
    """The folders of these launchers that have a file in their folder open, so that they run."""
    folders = set()
    for launcher in launchers:
        folder = _folder(launcher)
        with suppress(OSError):
            if any(path.startswith(f"{folder}/") for path in files_of(launcher)):
                folders.add(folder)
    return folders


def remove_session_folders(launchers: Iterable[int], used: Collection[Path] = ()) -> None:
    """Remove what these processes left, which have ended and may have been launchers.

    Containers and hosts may have a folder for temporary files in common, and processes of one
    number: only what they `used` goes where others could be using it.
    """
    folders = {folder for launcher in launchers if (folder := _folder(launcher)).is_dir()}
    if not folders:
        return
    present = files_in_use()
    parts = {part for path in present.paths for part in path.split("/") if NAME.fullmatch(part)}
    for folder in folders:
        is_ours = folder in used or (present.is_all and _is_of_this_host(folder))
        if is_ours and folder.name not in parts:
            _remove(folder)


def abandoned_sessions() -> list[int]:
    """The launchers on this host that have ended and left a folder."""
    with suppress(OSError):
        names = [NAME.fullmatch(name) for name in os.listdir(tempfile.gettempdir())]
        launchers = [int(match[1]) for match in names if match]
        return [launcher for launcher in launchers if not Path(f"/proc/{launcher}").exists()]
    return []


def _folder(launcher: int) -> Path:
    return Path(tempfile.gettempdir()) / f"ompi.{launcher}"


def _is_of_this_host(folder: Path) -> bool:
    """Whether no other host's launcher has written its address into a folder."""
    with suppress(OSError):
        hosts = {match[1] for name in os.listdir(folder) if (match := ADDRESS.match(name))}
        return hosts <= {socket.gethostname(), socket.gethostname().partition(".")[0]}
    return False


def _remove(folder: Path) -> None:
    with suppress(OSError):
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)
