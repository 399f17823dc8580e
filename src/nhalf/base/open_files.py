"""Which files processes have open or mapped: who clears away looks first whose a file is.

A process sees those of its own namespace and of namespaces inside it. Others may share its files
all the same: /dev/shm and /tmp are often common to a host and its containers.

Session folders of Open MPI 5, which its launcher names after its process ID.

A launcher that is killed leaves its own behind. Process IDs come round again, and a later launcher
with that ID fails (exit code 213, "listener thread failed to start") for whoever calls it.
"""

import fcntl
import os
import re
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PROC = Path("/proc")
FIRST_NAMESPACE = "pid:[4026531836]"
"""The namespace of processes that a kernel starts with (PROC_PID_INIT_INO), which holds all
others."""


@dataclass(frozen=True)
class FilesInUse:
    """Paths that processes have open or mapped, each as its own process names it.

    `is_all` says that no process is in another namespace, where it cannot be seen.
    """

    paths: frozenset[str]
    is_all: bool

    @cached_property
    def names(self) -> frozenset[str]:
        """The last parts of the paths: folders are mounted elsewhere in a container."""
        return frozenset(path.rpartition("/")[2] for path in self.paths)


def files_of(process: int) -> Iterator[str]:
    """The paths of files that a process has open or mapped. Raises OSError if nobody may see them.

    Descriptors come before maps: who maps a file closes it afterwards.
    """
    with os.scandir(PROC / str(process) / "fd") as descriptors:
        for descriptor in descriptors:
            with suppress(OSError):
                yield os.readlink(descriptor.path)
    for line in (PROC / str(process) / "maps").read_bytes().splitlines():
        # Address, rights, offset, device, inode, path.
        fields = line.split(maxsplit=5)
        if len(fields) == 6:
            yield os.fsdecode(fields[5])


def files_in_use() -> FilesInUse:
    """The files of all processes, looked at twice: one may be passed on during the first look."""
    paths: set[str] = set()
    for _ in range(2):
        for process in (int(name) for name in os.listdir(PROC) if name.isdecimal()):
            try:
                paths.update(files_of(process))
            except OSError:
                continue  # it has ended, or shows nothing
    return FilesInUse(frozenset(paths), is_first_namespace())


def is_first_namespace() -> bool:
    """Whether no process of this host is hidden from this one in another namespace."""
    with suppress(OSError):
        return os.readlink(PROC / "self/ns/pid") == FIRST_NAMESPACE
    return False


def is_in_use(path: Path) -> bool:
    """Whether any process of this kernel has a file open or mapped, seen or not.

    The kernel gives no lease of a file that is in use. False where it cannot tell.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            # Who opens the file meanwhile waits a moment, and this process gets a signal.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGWINCH)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


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
            with suppress(OSError):
                status = folder.lstat()
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)


def _folder(launcher: int) -> Path:
    return Path(tempfile.gettempdir()) / f"ompi.{launcher}"


def _is_of_this_host(folder: Path) -> bool:
    """Whether no other host's launcher has written its address into a folder."""
    with suppress(OSError):
        hosts = {match[1] for name in os.listdir(folder) if (match := ADDRESS.match(name))}
        return hosts <= {socket.gethostname(), socket.gethostname().partition(".")[0]}
    return False
