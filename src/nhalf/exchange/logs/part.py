"""The lines of one suite's log, the numbers in them, and of how many ranks a table is."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nhalf.base.errors import InputError
from nhalf.base.units import SIZE_BYTES_MAX, number_in
from nhalf.exchange.logs.launch import LoggedLaunch, launch_of

Table = tuple[int, int]
"""The first line of a part, and the number of a table in it."""


@dataclass(frozen=True)
class Count:
    """The ranks of a table: what it is called, what the log says (0: nothing), and what holds.

    `line` and `text` are those of the launcher's command.
    """

    name: str
    logged: int
    ranks: int
    line: int = 0
    text: str = ""


@dataclass
class LogCounts:
    """The counts of a log's tables; `user_counts` are the user's: one for all, or one for each."""

    user_counts: Sequence[int] = ()
    tables: dict[Table, Count] = field(default_factory=dict)

    def of(self, table: Table, name: str, logged: int, source: tuple[int, str]) -> int:
        """The ranks of a table, 0 if nobody says; the same whenever it is asked for again."""
        if table not in self.tables:
            self.tables[table] = Count(name, logged, self._ranks(logged), *source)
        return self.tables[table].ranks

    def _ranks(self, logged: int) -> int:
        if len(self.user_counts) == 1:
            return self.user_counts[0]
        place = len(self.silent)
        return logged or (self.user_counts[place] if place < len(self.user_counts) else 0)

    @property
    def silent(self) -> list[Count]:
        """The tables of which the log does not say how many ranks they are of."""
        return [count for count in self.tables.values() if not count.logged]

    def check(self, name: str) -> None:
        """Raise InputError if the user's numbers cannot be those of the tables of log `name`."""
        silent, logged = self.silent, {count.logged for count in self.tables.values()} - {0}
        if len(self.user_counts) > 1 and len(self.user_counts) != len(silent):
            raise InputError(
                f"{name} has {_tables(len(silent))} without a number of ranks, "
                f"and --ranks gives {len(self.user_counts)}",
                "give one number for each of them, in their order",
            )
        if len(self.user_counts) == 1 and len(logged) > 1:
            numbers = " and ".join(map(str, sorted(logged)))
            raise InputError(
                f"{name} says itself that its tables are of {numbers} ranks", "leave out --ranks"
            )
        names = Counter(count.name for count in silent)
        repeated = next((name for name, number in names.items() if number > 1), "")
        if repeated and len(self.user_counts) < 2:
            example = ",".join(
                str(ranks) for ranks in (list(self.user_counts) or [8]) * len(silent)
            )
            raise InputError(
                f"{name} has {_tables(names[repeated])} of {repeated}, and does not say how many "
                "ranks each of them is of",
                f"give a number for each table without one, in their order: --ranks {example}",
            )


def _tables(count: int) -> str:
    return "1 table" if count == 1 else f"{count} tables"


Seconds = Sequence[float]
NO_LAUNCH = LoggedLaunch("")

TIME_LEAST_S, TIME_MOST_S = 1e-12, 1e9
"""No message is faster, no benchmark waits longer: numbers outside are not times."""

_COMMA_DECIMAL = re.compile(r"\d+,(?:\d{1,2}|\d{4,})|\d{4,},\d+")
_POINT_DECIMAL = re.compile(r"\d+\.(?:\d{1,2}|\d{4,})|(?:0|\d{4,})\.\d+")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:[.,]\d{3})+")
_GROUPED_COMMA = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_EXPORT = re.compile(
    r"(?:.{0,80}?[$#>%] )?(?:export ([A-Za-z_]\w{0,80})=|setenv ([A-Za-z_]\w{0,80}) |"
    r"(?:unset|unsetenv) ([A-Za-z_]\w{0,80})\s*$)(.{0,400})"
)
_ROW = re.compile(r"\s*[-+.]?\d")


@dataclass(frozen=True)
class PassedOver:
    """A line that resembles a result but cannot be used: its number from 1, and its text."""

    line: int
    text: str


@dataclass
class LogPart:
    """Consecutive lines of one suite; `first` is the number of the first in its file, from 1.

    `ranks` is what the latest command of a launcher said, 0 if it did not. `pattern` is the user's
    name for tables without one.
    """

    lines: Sequence[str]
    first: int = 1
    ranks: int = 0
    counts: LogCounts = field(default_factory=LogCounts)
    decimal_comma: bool = False
    passed_over: list[PassedOver] = field(default_factory=list)
    launch: LoggedLaunch = NO_LAUNCH
    launch_line: int = 0
    pattern: str = ""
    refusal: tuple[str, str] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def refuse(self, reason: str, remedy: str) -> None:
        """Say why the log cannot be imported, after its name, and what would help."""
        self.refusal = self.refusal or (reason, remedy)

    def pass_over(self, place: int) -> None:
        """Record an unusable line, by its place in the part."""
        self.passed_over.append(PassedOver(self.first + place, self.lines[place].strip()[:200]))

    def number(self, token: str) -> float:
        """Parse a finite number in the notation of this log; NaN if it is none."""
        if "," in token or self.decimal_comma:
            token = self._with_point(token)
        if "_" in token:
            return math.nan
        value = number_in(token)
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

    def note_launcher(self, line: str, place: int = 0) -> None:
        """Take a launcher's command: what an earlier one said does not hold any more.

        Variables that were exported before it belong to it.
        """
        if ("export " in line or "set" in line) and (export := _EXPORT.fullmatch(line.rstrip())):
            name = export[1] or export[2] or export[3]
            self.environment.pop(name, None)
            if not export[3]:
                self.environment[name] = "".join(export[4].split()).strip("'\"")
        elif launch := launch_of(line):
            variables = (f"{name}={value}" for name, value in sorted(self.environment.items()))
            launch = replace(launch, words=(*variables, *launch.words))
            self.launch, self.launch_line, self.ranks = launch, self.first + place, launch.ranks

    def ranks_of(self, table: int, name: str, *, holds: bool = True) -> int:
        """The ranks of a table that does not say them: the user's number, or the launcher's.

        0 if neither says. `name` is what messages call the table; `holds` is False for a table that
        the launcher's command is not about.
        """
        source = (self.launch_line, self.launch.text) if holds else (0, "")
        return self.counts.of((self.first, table), name, self.ranks if holds else 0, source)


def is_time(time_s: float) -> bool:
    """Whether a number can be the time of a message or an operation, seconds."""
    return TIME_LEAST_S <= time_s <= TIME_MOST_S


def is_row(line: str) -> bool:
    """Whether a line begins as rows of numbers do: with a digit, perhaps after its sign."""
    return _ROW.match(line) is not None


def ratio(over: float, under: float) -> float:
    """The quotient; NaN if there is none."""
    return over / under if under > 0 else math.nan


def slug(text: str) -> str:
    """A pattern's name from any text: lower case, dashes."""
    words = re.findall(r"[a-z0-9]+", text[:200].lower())
    return "-".join(words)[:60].strip("-") or "unnamed"


def writes_decimal_comma(lines: Sequence[str]) -> bool:
    """Whether rows of numbers have decimal commas: none of them has a decimal point."""
    has_comma = any(
        "," in line
        and _has_numbers(line)
        and any(_COMMA_DECIMAL.fullmatch(token) for token in line.split())
        for line in lines
    )
    return has_comma and not any(
        "." in line and _has_numbers(line) and any(map(_POINT_DECIMAL.fullmatch, line.split()))
        for line in lines
    )


def _has_numbers(line: str) -> bool:
    """Whether a line is a row, maybe with words before its numbers."""
    return is_row(line) or sum(token[0].isdigit() for token in line.split()) > 2
