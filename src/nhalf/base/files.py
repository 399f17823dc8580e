# SPDX-License-Identifier: Apache-2.0
"""Atomic writes: whole files or none, whatever becomes of the process or the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nhalf.base.errors import MissingError

ANOTHER_PLACE = "name a place with room and permission (--out)"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; on the disk, it takes the place of `path` at the end.

    Nothing is left of it where something fails. Raises OSError.
    """
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


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, too; not every file system can."""
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
    """Write a file so that nobody ever sees half of it; its path.

    Makes the folder where it is missing. Raises MissingError, with `remedy`, when the place cannot
    be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_bytes(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingError(f"cannot write {path}: {reason}", remedy) from error
    return path
