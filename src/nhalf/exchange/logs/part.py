# SPDX-License-Identifier: Apache-2.0
"""The lines of one suite's log, without the traces of launchers, terminals and locales."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from nhalf.base.units import SIZE_BYTES_MAX

Seconds = Sequence[float]

TIME_LEAST_S, TIME_MOST_S = 1e-12, 1e9
"""No message is faster, no benchmark waits longer: numbers outside are not times."""
RANKS_MOST = 1 << 20

_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_GROUP_SPACE = re.compile(r"(?<=\d)[\xa0\u202f\u2009'’](?=\d{3}(?!\d))")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.,]{8,24}(?:Z|[+-]\d\d:?\d\d)? ")
_LABEL = re.compile(r"\s{0,8}(?:\d{1,7}:|\[\d{1,7}\]) ")
_COMMA_DECIMAL = re.compile(r"\d+,(?:\d{1,2}|\d{4,})|\d{4,},\d+")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:[.,]\d{3})+")
_GROUPED_COMMA = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


@dataclass(frozen=True)
class PassedOver:
    """A line that resembles a result but cannot be used: its number from 1, and its text."""

    line: int
    text: str


@dataclass
class Part:
    """Consecutive lines of one suite; `first` is the number of the first in its file, from 1.

    `ranks` is from the user or the launcher's command line, 0 if neither gave it.
    """

    lines: Sequence[str]
    first: int = 1
    ranks: int = 0
    given_ranks: bool = False
    decimal_comma: bool = False
    passed_over: list[PassedOver] = field(default_factory=list)

    def pass_over(self, place: int) -> None:
        """Record an unusable line, by its place in the part."""
        self.passed_over.append(PassedOver(self.first + place, self.lines[place].strip()[:200]))

    def number(self, token: str) -> float:
        """Parse a finite number in the notation of this log; NaN if it is none."""
        if "," in token or self.decimal_comma:
            token = self._with_point(token)
        if "_" in token:
            return math.nan
        try:
            value = float(token)
        except ValueError:
            return math.nan
        return value if math.isfinite(value) else math.nan

    def _with_point(self, token: str) -> str:
        if not self.decimal_comma:
            return token.replace(",", "") if _GROUPED_COMMA.fullmatch(token) else "none"
        if "," in token:
            return token.replace(".", "").replace(",", ".")
        return token.replace(".", "") if _GROUPED.fullmatch(token) else token

    def size(self, token: str) -> int:
        """Parse a message size in bytes; -1 if it is none."""
        value = int(token) if token.isdecimal() and len(token) < 16 else self.number(token)
        return int(value) if 0 <= value <= SIZE_BYTES_MAX and value == int(value) else -1

    def note_launcher(self, line: str) -> None:
        """Take the number of ranks from a launcher's command line, unless the user gave it."""
        if not self.given_ranks and ("mpi" in line or "srun" in line):
            self.ranks = launcher_ranks(line) or self.ranks


def is_time(time_s: float) -> bool:
    """Whether a number can be the time of a message or an operation, seconds."""
    return TIME_LEAST_S <= time_s <= TIME_MOST_S


def is_row(line: str) -> bool:
    """Whether a line begins as rows of numbers do."""
    head = line.lstrip()[:1]
    return head.isdecimal() or head in {"-", "+", "."}


def ratio(over: float, under: float) -> float:
    """The quotient; NaN if there is none."""
    return over / under if under > 0 else math.nan


def slug(text: str) -> str:
    """A pattern's name from any text: lower case, dashes."""
    words = re.findall(r"[a-z0-9]+", text[:200].lower())
    return "-".join(words)[:60].strip("-") or "unnamed"


def launcher_ranks(line: str) -> int:
    """The number of ranks in a command line such as `mpirun -np 4 …`; 0 if there is none."""
    if not any(name in line for name in ("mpirun", "mpiexec", "srun")):
        return 0
    words = line[:2000].split()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, _, value = word.partition("=")
        if name in ("-n", "-np", "--np", "--ntasks", "-c"):
            count = value or following
            if count.isdecimal() and len(count) < 8 and 1 <= int(count) <= RANKS_MOST:
                return int(count)
    return 0


def clean_lines(text: str) -> list[str]:
    """The lines of a log without colours, tags of launchers and time stamps."""
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "'" in text or not text.isascii():
        text = _GROUP_SPACE.sub("", text)
    lines = text.replace("\0", " ").splitlines()
    return [_without_tag(line) if line[:1] in _TAG_HEADS else line for line in lines]


_TAG_HEADS = frozenset("[(0123456789 \t")


def _without_tag(line: str) -> str:
    """A line without `[1,0]<stdout>:`, `0: `, `[0] ` or a time stamp before it."""
    if "<stdout>" in line:
        line = line.partition("<stdout>")[2].removeprefix(":")
    if line[4:5] == "-" and (stamp := _STAMP.match(line)):
        line = line[stamp.end() :]
    if ("] " in line or ": " in line) and "-->" not in line and (label := _LABEL.match(line)):
        line = line[label.end() :]
    return line


def writes_decimal_comma(lines: Sequence[str]) -> bool:
    """Whether rows of numbers have decimal commas."""
    return any(
        "," in line
        and is_row(line)
        and any(_COMMA_DECIMAL.fullmatch(token) for token in line.split())
        for line in lines
    )
