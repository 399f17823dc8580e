# SPDX-License-Identifier: Apache-2.0
"""Writing whole files or none."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from nhalf.base.errors import MissingError


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text; see `write_bytes`."""
    return write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> Path:
    """Write beside the target and move there, so that nobody ever sees half a file.

    Makes the folder where it is missing. Raises MissingError when the place cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise MissingError(
            f"cannot write {path}: {reason}", "name a place with room and permission (--out)"
        ) from error
    return path
