"""Atomic writes: a file, or what is appended to one, is complete or absent, whoever dies."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nhalf.base.errors import MissingError

ANOTHER_PLACE = "name a place with room and permission (--out)"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path next to `path`; at the end it is synced and replaces `path`.

    It is removed on failure. Raises OSError, also where a device or a pipe has that name: the
    superuser would replace even /dev/null.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(path)
        _sync_folder(path.parent)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def text_in(path: Path) -> str:
    """The text of a file without white space around it, such as the kernel's; '' if unreadable."""
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return ""


def _sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk; not every file system supports it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(path: Path, text: str, remedy: str = ANOTHER_PLACE) -> Path:
    """Write UTF-8 text; see `write_bytes`."""
    return write_bytes(path, text.encode(), remedy)


def write_bytes(path: Path, content: bytes, remedy: str = ANOTHER_PLACE) -> Path:
    """Write a file atomically, so that no reader sees half of it; returns its path.

    Creates the folder if it is missing. Raises MissingError, with `remedy`, if the path is not
    writable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_bytes(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingError(f"cannot write {path}: {reason}", remedy) from error
    return path


def append_whole(path: Path, content: bytes) -> None:
    """Append lines: all of them or, if the disk is full, none; others that append wait.

    Where the file system has no locks, what is short still arrives in one piece. A line that a
    crash left incomplete stays one. Raises OSError.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        before = os.fstat(descriptor).st_size
        if before and os.pread(descriptor, 1, before - 1) != b"\n":
            content = b"\n" + content
        try:
            written = 0
            while written < len(content):
                written += os.write(descriptor, content[written:])
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
