"""What gates found: a file for each node in a folder that nodes may share, one JSON line per gate.

A node appends to its own file alone, whole lines under a lock. Lines that cannot be read are
counted and left where they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from nhalf.base.errors import MissingError
from nhalf.base.files import append_whole
from nhalf.base.unreadable import UNREADABLE
from nhalf.store.described import RUN_DESCRIPTION

PAIRS = "pairs@"
"""Begins the name in place of a node's where pairs of hosts were timed, followed by the host that
began it: no file has two writers."""
SUFFIX = ".jsonl"
TAIL_BYTES = 4 << 20
"""No more of a file is read for a baseline: years of gates lie before that."""
ALL_BYTES = 1 << 62
OTHER_FOLDER = "name a folder that this user can write to with --baseline"
GateVerdict = Literal["go", "no-go", "unsure"]


class GateRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: seconds by what was timed, and what became of it.

    `counts` says whether it is part of the baseline of later gates, `accepts` whether that begins
    with it. `taken_share` is what others had of the core that they had most of.
    """

    node: str
    at: datetime
    verdict: GateVerdict
    times_s: dict[str, float]
    reason: str = ""
    counts: bool = False
    accepts: bool = False
    taken_share: float = 0.0
    nhalf: str = ""


@dataclass(frozen=True)
class GateFile:
    """The gates of a node, oldest first, and how many lines could not be read."""

    records: tuple[GateRecord, ...] = ()
    unread: int = 0

    def __bool__(self) -> bool:
        return bool(self.records)

    def baseline(self, most: int) -> list[dict[str, float]]:
        """The times of the last gates that count, since the last one that was accepted."""
        begin = max((i for i, record in enumerate(self.records) if record.accepts), default=0)
        counted = [record.times_s for record in self.records[begin:] if record.counts]
        return counted[-most:]


def gate_path(folder: Path, node: str) -> Path:
    """The file of a node."""
    return folder / f"{node}{SUFFIX}"


def read_gates(path: Path, tail_bytes: int = TAIL_BYTES) -> GateFile:
    """The gates in the end of a file; none if there is no file.

    Raises MissingError if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - tail_bytes))
            content = file.read()
    except FileNotFoundError:
        return GateFile()
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingError(f"the gates in {path} cannot be read: {reason}", OTHER_FOLDER) from error
    lines = content.split(b"\n")
    return _parsed(lines[1:] if size > tail_bytes else lines)


def _parsed(lines: Sequence[bytes]) -> GateFile:
    decoder = msgspec.json.Decoder(GateRecord)
    records, unread = [], 0
    for line in filter(None, lines):
        try:
            records.append(decoder.decode(line))
        except UNREADABLE:
            unread += 1
    return GateFile(tuple(records), unread)


def read_pair_gates(folder: Path) -> GateFile:
    """The gates of pairs of hosts, oldest first: each host that began some has a file of them.

    Raises MissingError as `read_gates` does.
    """
    return _merged(folder.glob(f"{PAIRS}*{SUFFIX}"), TAIL_BYTES)


def read_places(places: Iterable[Path]) -> GateFile:
    """The gates of files and of folders, oldest first; runs and what is not there have none.

    Raises MissingError as `read_gates` does.
    """
    folders = [place for place in places if not (place / RUN_DESCRIPTION).is_file()]
    paths = [p for place in folders for p in (place.glob("*") if place.is_dir() else [place])]
    return _merged({path.resolve() for path in paths if path.suffix == SUFFIX}, ALL_BYTES)


def _merged(paths: Iterable[Path], tail_bytes: int) -> GateFile:
    files = [read_gates(path, tail_bytes) for path in sorted(paths)]
    records = sorted((r for file in files for r in file.records), key=lambda record: record.at)
    return GateFile(tuple(records), sum(file.unread for file in files))


def timed_on(node: str, name: str) -> tuple[str, tuple[str, ...]]:
    """What a time of a gate is of, and the node or the two nodes, in the order of their names.

    'core 5' of a node n3 is itself, on n3; 'latency n1 n2' is a latency, between n1 and n2.
    """
    kind, _, nodes = name.partition(" ")
    return (kind, tuple(nodes.split())) if node.startswith(PAIRS) and nodes else (name, (node,))


def append_gates(folder: Path, node: str, *records: GateRecord) -> None:
    """Append gates to a node's file, which is made; raises MissingError if that cannot be done."""
    path = gate_path(folder, node)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        append_whole(path, b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingError(f"{path} cannot be written: {reason}", OTHER_FOLDER) from error
