"""The file of the ledger: one JSON line per prediction, and per comparison with a measurement.

Lines are only appended, under a lock, so that several processes may write at once. A line that
cannot be read, such as the last of a full disk or one of a later form, is skipped and counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from nhalf.base.errors import MissingError
from nhalf.base.files import append_whole
from nhalf.base.folders import data_folder, make_folder
from nhalf.base.unreadable import UNREADABLE

FILE = "ledger.jsonl"
Kind = Literal["model", "composed", "program", "b_eff"]
KINDS: tuple[Kind, Kind, Kind, Kind] = ("model", "composed", "program", "b_eff")
MODEL, COMPOSED, PROGRAM, B_EFF = KINDS


class LedgerCell(msgspec.Struct, frozen=True, kw_only=True):
    """A time or rate that can be predicted and measured.

    `library` has the transport where that is not messages. `over_nodes` tells whether the ranks are
    on several nodes; `pattern` of a traced program is its command.
    """

    machine: str
    pattern: str
    algorithm: str = ""
    library: str = ""
    ranks: int
    over_nodes: bool = False
    size_bytes: int = 0


class Predicted(msgspec.Struct, frozen=True, kw_only=True, tag="prediction", tag_field="line"):
    """A prediction: seconds, or bytes per second, with its interval if it has one."""

    at: datetime
    kind: Kind
    cell: LedgerCell
    value: float
    low: float | None = None
    high: float | None = None
    nhalf: str = ""


class Scored(msgspec.Struct, frozen=True, kw_only=True, tag="score", tag_field="line"):
    """A prediction beside what was measured later.

    `predicted_at` and `measured_at` are when; `measured_ratio` is measured over predicted,
    `end_ratio` the factor from the prediction to the end of its interval on that side, at least 1,
    None if it had no interval.
    """

    predicted_at: datetime
    measured_at: datetime
    run: str
    kind: Kind
    cell: LedgerCell
    measured_ratio: float
    end_ratio: float | None = None

    @property
    def error_ratio(self) -> float:
        """The factor between measured and predicted, at least 1."""
        return max(self.measured_ratio, 1 / self.measured_ratio)

    @property
    def is_inside(self) -> bool | None:
        """Whether the measurement is in the interval; None without one."""
        return None if self.end_ratio is None else self.error_ratio <= self.end_ratio * (1 + 1e-9)


Line = Predicted | Scored


@dataclass(frozen=True)
class Ledger:
    """The lines of a ledger, and how many could not be read."""

    predictions: tuple[Predicted, ...] = ()
    scores: tuple[Scored, ...] = ()
    unread: int = 0


def usual_path() -> Path:
    """The ledger in the user's data folder; raises MissingError if there is no such folder."""
    return data_folder() / FILE


def read_ledger(path: Path) -> Ledger:
    """The lines of a file; empty if there is none. Raises MissingError if it cannot be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Ledger()
    except OSError as error:
        message = f"the ledger {path} cannot be read: {error.strerror or error}"
        raise MissingError(message, "name another one with --ledger") from error
    decoder = msgspec.json.Decoder(Line)
    predictions: list[Predicted] = []
    scores: list[Scored] = []
    unread = 0
    for text in filter(None, content.split(b"\n")):
        try:
            line = decoder.decode(text)
        except UNREADABLE:
            unread += 1
            continue
        if isinstance(line, Predicted):
            predictions.append(line)
        else:
            scores.append(line)
    return Ledger(tuple(predictions), tuple(scores), unread)


def append_lines(path: Path, lines: Sequence[Line]) -> None:
    """Append lines to the file; all of them or, if the disk is full, none.

    Raises MissingError if they cannot be written.
    """
    content = b"".join(msgspec.json.encode(line) + b"\n" for line in lines if _is_number(line))
    if not content:
        return
    try:
        if path == usual_path():
            make_folder(path.parent)
        append_whole(path, content)
    except OSError as error:
        message = f"the ledger {path} cannot be written: {error.strerror or error}"
        raise MissingError(message, "name another one with --ledger") from error


def _is_number(line: Line) -> bool:
    """Whether a line has a value that can be compared."""
    value = line.measured_ratio if isinstance(line, Scored) else line.value
    return math.isfinite(value) and value > 0
