"""The journal: one JSON line per event, written before the event is reported."""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from nhalf.base.errors import InputError, MissingError
from nhalf.base.unreadable import UNREADABLE

Event = TypeVar("Event")


SYNC_INTERVAL_S = 0.2
"""How much of a run a power failure may cost: syncing every line would take milliseconds."""


class Journal:
    """Appends lines to a file, after dropping a line that a crash left incomplete.

    Each line is in the file at once, safe from a crash of this process, and on disk within
    SYNC_INTERVAL_S, safe from a crash of the machine, even if no line follows for a long time.
    """

    def __init__(self, path: Path, resuming: str = "") -> None:
        """Open for appending; an incomplete last line is dropped.

        `resuming` is the command that goes on with the run, for messages.

        Raises InputError while another process appends to the same file.
        """
        self._path = path
        self._resuming = resuming
        self._encoder = msgspec.json.Encoder()
        self._synced_s = time.monotonic()
        self._later: threading.Timer | None = None
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _lock(self._descriptor, path)
            self._size_bytes = _sound_length(path)
            if self._size_bytes < path.stat().st_size:
                os.ftruncate(self._descriptor, self._size_bytes)
        except BaseException:
            self.close()
            raise

    def append(self, event: dict[str, Any]) -> None:
        """Write one event; if the last sync was long ago, wait until all events are on disk.

        Otherwise a timer syncs them shortly. Raises MissingError if the event cannot be written;
        the file then ends with the previous event.
        """
        line = self._encoder.encode(event) + b"\n"
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            if time.monotonic() - self._synced_s > SYNC_INTERVAL_S:
                self._sync()
            else:
                self._sync_later()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size_bytes)
            raise self._unwritable(error) from error
        self._size_bytes += len(line)

    def close(self) -> None:
        """Close the file once everything is on disk; safe to call twice."""
        if self._later is not None:
            self._later.cancel()
            # An interrupt may have come before it began.
            if self._later.is_alive():
                self._later.join()
            self._later = None
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self._sync()
            os.close(self._descriptor)
            self._descriptor = -1

    def _sync_later(self) -> None:
        """Sync all lines of the interval at once, later; the next line reports a failure."""
        if self._later is None or not self._later.is_alive():
            self._later = threading.Timer(SYNC_INTERVAL_S, os.fsync, (self._descriptor,))
            self._later.daemon = True
            self._later.start()

    def _sync(self) -> None:
        os.fsync(self._descriptor)
        self._synced_s = time.monotonic()

    def _unwritable(self, error: OSError) -> MissingError:
        remedy = f"when it can, go on with: {self._resuming}" if self._resuming else ""
        return MissingError(f"{self._path} cannot be written: {error.strerror}", remedy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, /, *_: object) -> None:
        try:
            if kind is None:
                self._sync()
        except OSError as failure:
            raise self._unwritable(failure) from failure
        finally:
            self.close()


class Tail:
    """The lines of a journal that another process writes, each returned once."""

    def __init__(self, path: Path) -> None:
        """The file need not exist yet."""
        self._path = path
        self._offset_bytes = 0

    def lines(self) -> Iterator[bytes]:
        """The complete lines added since the last call."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset_bytes)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self._offset_bytes += len(line)
                    yield line
        except OSError:
            return


class _Name(msgspec.Struct):
    """The fields that every event has."""

    event: str


def events(path: Path) -> Iterator[dict[str, Any]]:
    """Every complete line of a journal; a damaged last line is skipped.

    Raises InputError if a line before the last is not an event.
    """
    decoder = msgspec.json.Decoder(dict[str, Any])
    return _read(path, lambda name, line: decoder.decode(line))


def events_named(event_name: str, path: Path, kind: type[Event]) -> Iterator[Event]:
    """The events with one name, each decoded as `kind`; any other form counts as damage.

    Raises InputError if a line before the last is damaged.
    """
    decoder = msgspec.json.Decoder(kind)
    return _read(path, lambda name, line: decoder.decode(line) if name == event_name else None)


def _read(path: Path, decode: Callable[[str, bytes], Event | None]) -> Iterator[Event]:
    """The result of `decode` for the name and the text of every line."""
    if not path.exists():
        return
    names = msgspec.json.Decoder(_Name)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                event = decode(names.decode(line).event, line)
            except UNREADABLE as error:
                if file.read(1) == b"":
                    return
                message = f"{path} is damaged at line {number}: {error}"
                raise InputError(message, "remove that line to use the others") from error
            if event is not None:
                yield event


def _lock(descriptor: int, path: Path) -> None:
    """Lock out other processes until this one ends; not every file system supports it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(
            f"another nhalf is measuring into {path.parent}", "wait until it has ended"
        ) from error
    except OSError:
        return


def _sound_length(path: Path) -> int:
    """The length of a journal up to the end of its last valid line, bytes.

    A crash damages only the end; readers check everything before the last line.
    """
    with path.open("rb") as file:
        end = _line_end_before(file, path.stat().st_size)
        begin = _line_end_before(file, end - 1)
        file.seek(begin)
        try:
            msgspec.json.decode(file.read(end - begin), type=_Name)
        except UNREADABLE:
            return begin
    return end


def _line_end_before(file: Any, end: int) -> int:
    """The position after the last line end before `end`, bytes; 0 if there is none."""
    step = 1 << 16
    for stop in range(end, 0, -step):
        begin = max(0, stop - step)
        file.seek(begin)
        newline: int = file.read(stop - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
    return 0
