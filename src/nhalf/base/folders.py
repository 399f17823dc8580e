"""The user's folders: data (installed libraries) and cache (identifications, compiled probes).

Programs are run from them, so neither is used if somebody else could have written to it.

Nothing is run or loaded from a folder of nhalf's for which that is not so.
"""

import errno
import functools
import os
import pwd
import stat
import tempfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.files import write_text

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


CACHE_REMEDY = "make room or set XDG_CACHE_HOME to a folder that can be written"
PRIVATE = 0o700
READABLE = 0o755
"""Others may use what root put into an image: it is not secret."""


@dataclass(frozen=True)
class Kind:
    """One of the two folders: its name in messages, its variable, and its default below home."""

    title: str
    variable: str
    below_home: str

    def place(self) -> Path:
        """The folder's path, whoever owns it; it need not exist. Raises MissingError."""
        base = Path(os.environ.get(self.variable, ""))
        # The XDG specification asks to ignore values that are not absolute.
        if base.is_absolute():
            return base / "nhalf"
        home = _home()
        return home / self.below_home / "nhalf" if home else self._without_home()

    def own(self) -> Path:
        """The folder's path, if only this user and root could have written there.

        Raises MissingError.
        """
        folder = self.place()
        _need_own(folder, f"set {self.variable} to a folder that only you can write to")
        return folder

    def _without_home(self) -> Path:
        try:
            return Path(tempfile.gettempdir()) / f"nhalf-{os.geteuid()}"
        except OSError as error:  # no place that can be written
            remedy = f"set {self.variable} to a folder that can be written"
            raise MissingError(f"there is no place for the {self.title} folder", remedy) from error


DATA = Kind("data", "XDG_DATA_HOME", ".local/share")
CACHE = Kind("cache", "XDG_CACHE_HOME", ".cache")


def data_folder() -> Path:
    """XDG_DATA_HOME/nhalf, by default ~/.local/share/nhalf; it need not exist.

    Raises MissingError if somebody else could have written there.
    """
    return DATA.own()


def cache_folder() -> Path:
    """XDG_CACHE_HOME/nhalf, by default ~/.cache/nhalf; it need not exist.

    Raises MissingError if somebody else could have written there.
    """
    return CACHE.own()


def mpi_folder() -> Path:
    """Where `nhalf mpi install` puts one prefix per library and version. Raises MissingError."""
    return data_folder() / "mpi"


def make_folder(folder: Path) -> Path:
    """Make a folder below the data or cache folder, with its missing parents; returns it.

    Others may read it, but not in a shared place. Raises OSError, and MissingError if somebody else
    could have written there.
    """
    need_own(folder)
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    for path in reversed(missing):
        is_shared_place = path.parent.stat().st_mode & stat.S_IWOTH
        with suppress(FileExistsError):
            os.mkdir(path, PRIVATE if is_shared_place else READABLE)
        need_own(path)
    need_own(folder)
    return folder


def write_cached(path: Path, text: str) -> Path:
    """Write a text below the cache folder; returns its path. Raises MissingError."""
    try:
        make_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingError(f"cannot make {path.parent}: {reason}", CACHE_REMEDY) from error
    return write_text(path, text, CACHE_REMEDY)


def need_own(path: Path) -> None:
    """Raises MissingError if somebody else could have written at this path."""
    _need_own(path, "remove it if it is yours")


def _need_own(path: Path, remedy: str) -> None:
    reason = why_not_own(path).replace(str(path), "it", 1)
    if reason:
        raise MissingError(f"{path} is not used: {reason}", remedy)


def _home() -> Path | None:
    """The user's home, None for an account that has none, as in some containers."""
    homes = [os.environ.get("HOME", "")]
    with suppress(KeyError):  # a user without an entry
        homes.append(pwd.getpwuid(os.geteuid()).pw_dir)
    return next((Path(home) for home in homes if _is_home(home)), None)


def _is_home(home: str) -> bool:
    """Whether a folder is a home of this user: it exists, or could be created.

    `sudo` may keep the home of the user who called it, where root should leave nothing behind;
    engines give `/` to a user whom the container does not know.
    """
    if not os.path.isabs(home):
        return False
    if not os.path.isdir(home):
        return os.access(os.path.dirname(home.rstrip("/")) or "/", os.W_OK)
    if os.geteuid() == 0:
        return os.stat(home).st_uid == 0
    return os.path.realpath(home) != "/"
