"""Processes of this host, as the kernel lists them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
STATE, PARENT, SESSION, BEGAN = 0, 1, 3, 19
"""Places in a process's status; the begin is in ticks of the clock since the start of the host."""


def is_running(process: int) -> bool:
    """Whether a process has not ended; one that ended may wait for its parent to notice."""
    with suppress(OSError):
        return status(process)[STATE] not in "ZX"
    return False


def status(process: int) -> list[str]:
    """The state, parent, group, session… of a process. Raises OSError if there is none."""
    with open(f"{PROC}/{process}/stat", "rb") as file:
        # Its name before may have blanks and brackets.
        return file.read().rpartition(b")")[2].decode().split()


def processes() -> Iterator[int]:
    """All processes that can be seen."""
    return (int(name) for name in os.listdir(PROC) if name.isdecimal())


def session_members(leader: int) -> list[int]:
    """The processes of a session that have not ended."""
    members = []
    for process in processes():
        with suppress(OSError):
            fields = status(process)
            if int(fields[SESSION]) == leader and fields[STATE] not in "ZX":
                members.append(process)
    return members


def family(leader: int) -> list[int]:
    """A process, its children, and theirs: ranks may be in sessions of their own."""
    children: dict[int, list[int]] = {}
    for process in processes():
        with suppress(OSError):
            children.setdefault(int(status(process)[PARENT]), []).append(process)
    members = [leader]
    for member in members:
        members += children.get(member, [])
    return members


def with_variable(variable: str) -> Iterator[int]:
    """The processes that have a variable, NAME=value, but for those that have ended."""
    entry = variable.encode()
    for process in processes():
        with suppress(OSError):
            # A process that has ended has no variables any more.
            if entry in (PROC / str(process) / "environ").read_bytes().split(b"\0"):
                yield process
