# SPDX-License-Identifier: Apache-2.0
"""The journal: one JSON line per event, on the disk before anybody hears of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from nhalf.errors import InputError


class Journal:
    """Appends lines to a file, each flushed and synced; what a crash cut off is cut away."""

    def __init__(self, path: Path) -> None:
        """Open for appending; a last line without its end is dropped first."""
        self._encoder = msgspec.json.Encoder()
        self._file = path.open("ab")
        whole = _whole_length(path)
        if whole < self._file.tell():
            self._file.truncate(whole)

    def append(self, event: dict[str, Any]) -> None:
        """Write one event and wait until it is on the disk."""
        self._file.write(self._encoder.encode(event) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def events(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line of a journal; a damaged last line is passed over.

    Raises InputError when a line before the last is not JSON.
    """
    if not path.exists():
        return
    decoder = msgspec.json.Decoder(dict[str, Any])
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                if file.read(1) == b"":
                    return
                raise InputError(
                    f"{path} is damaged at line {number}", "remove that line to use the others"
                ) from error


def _whole_length(path: Path) -> int:
    """The length of a file up to the end of its last whole line, bytes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        step = 1 << 16
        for end in range(size, 0, -step):
            begin = max(0, end - step)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
    return 0
