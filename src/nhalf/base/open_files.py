"""Which files processes have open or mapped: who clears away looks first whose a file is.

A process sees those of its own namespace and of namespaces inside it. Others may share its files
all the same: /dev/shm and /tmp are often common to a host and its containers.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
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
