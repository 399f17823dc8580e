"""Arguments of the Python interface, where a value may be of any type."""

import os
import reprlib
from pathlib import Path

from nhalf.base.errors import InputError


def as_path(value: object, kind: str, example: str) -> Path:
    """A path, as `str` or `os.PathLike`. Raises InputError for anything else.

    `kind` says what is expected there, `example` how that is written.
    """
    if isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str):
        return Path(value)
    raise InputError(f"{shown(value)} is no {kind}", f"give a text or a Path, as {example!r}")


def as_text(value: object, word: str) -> str:
    """A text, the value of the argument `word`. Raises InputError for anything else."""
    if isinstance(value, str):
        return value
    raise InputError(f"{word}={shown(value)} is no text", f"write {word}='...'")


def shown(value: object) -> str:
    """A value in a message: its `repr`, shortened if that is long."""
    return reprlib.repr(value)
