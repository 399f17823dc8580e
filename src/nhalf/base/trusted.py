"""Whether only this user and root could have written what lies at a path.

Nothing is run or loaded from a folder of nhalf's for which that is not so.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections import deque
from pathlib import Path

LINKS_MAX = 40
"""The kernel follows at most this many symbolic links in one path."""


def why_not_own(path: Path) -> str:
    """Why somebody else could have put something at this path or below, '' if nobody could.

    The path need not exist; this user would make what is missing. Checks every folder on the
    way and follows links as the kernel does. The result stays true: where anybody may make
    files, only an entry of this user or of root is accepted, behind the sticky bit, and others
    can neither rename nor replace that.

    A group may write unless the place is shared: homes that belong to a group of the user's own
    are usual. The owner of a folder further up is trusted as well.
    """
    try:
        return _walk(path)
    except OSError:  # it is not there, or not for this user to enter
        return ""


def _walk(path: Path) -> str:
    """The answer of `why_not_own` for a path that exists; raises OSError if it does not."""
    at, missing, links = "/", deque(os.path.join(os.getcwd(), path).split("/")), 0
    is_closed = False
    above = entry = os.lstat(at)
    while missing:
        name = missing.popleft()
        if name in ("", "."):
            continue
        above = os.lstat(at)
        is_closed = is_closed or _is_closed(above)
        if not is_closed and _is_world_writable(above) and not above.st_mode & stat.S_ISVTX:
            return f"anybody may replace what is in {at}"
        entry = os.lstat(os.path.join(at, name))
        if not is_closed and _is_world_writable(above) and not _is_own(entry):
            return f"{_whose(os.path.join(at, name), entry)}, and anybody may make files in {at}"
        if name != ".." and not stat.S_ISLNK(entry.st_mode):
            at = os.path.join(at, name)
            continue
        if name == "..":
            to = os.path.dirname(at)
        else:
            to, links = os.path.join(at, os.readlink(os.path.join(at, name))), links + 1
            if links > LINKS_MAX:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        missing.extendleft(reversed(to.split("/")))
        at, is_closed = "/", False
    return "" if is_closed else _why_not(at, entry, is_shared_place=_is_world_writable(above))


def _why_not(path: str, status: os.stat_result, is_shared_place: bool) -> str:
    """What is wrong with the end of a path."""
    if not (_is_own(status) or status.st_uid in _unknown_owners()):
        return _whose(path, status)
    if _is_world_writable(status):
        return f"anybody may write to {path}"
    if is_shared_place and status.st_mode & stat.S_IWGRP:
        return f"its group may write to {path}"
    return ""


def _is_closed(folder: os.stat_result) -> bool:
    """Whether nobody but this user gets to what is below, whatever its own mode is."""
    is_private = not folder.st_mode & (stat.S_IXGRP | stat.S_IXOTH)
    return is_private and folder.st_uid == os.geteuid()


def _is_world_writable(status: os.stat_result) -> bool:
    return bool(status.st_mode & stat.S_IWOTH)


def _is_own(status: os.stat_result) -> bool:
    return status.st_uid in (0, os.geteuid())


@functools.cache
def _unknown_owners() -> frozenset[int]:
    """The user number of root's files in a user namespace that does not map root.

    Containers without privileges, such as Apptainer's, have such a namespace. Files of other
    users have the same number there, so it proves nothing in a shared place.
    """
    try:
        ranges = Path("/proc/self/uid_map").read_text().splitlines()
        if any(line.split()[0] == "0" for line in ranges):
            return frozenset()
        return frozenset({int(Path("/proc/sys/kernel/overflowuid").read_text())})
    except (OSError, ValueError, IndexError):
        return frozenset()


def _whose(path: str, status: os.stat_result) -> str:
    return f"{path} belongs to another user (uid {status.st_uid})"
