"""A log: its text from bytes, its parts by suite, and their points."""

from __future__ import annotations

import codecs
import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError, MissingError
from nhalf.base.plugins import load
from nhalf.base.units import SIZE_BYTES_MAX
from nhalf.exchange.importers import PACKAGE, Imported, Importer
from nhalf.exchange.logs.counts import Count, LogCounts
from nhalf.exchange.logs.launch import RANKS_MOST, LoggedLaunch
from nhalf.exchange.logs.part import (
    LogPart,
    PassedOver,
    is_time,
    writes_decimal_comma,
)
from nhalf.exchange.logs.prefixes import plain_lines, without_prefixes
from nhalf.exchange.program import FORMS

_MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; that of UTF-32 begins with that of UTF-16."""


@dataclass(frozen=True)
class Log:
    """The content of a log: points, the suites that wrote them, and unusable lines.

    `counts` are the tables whose number of ranks the suite does not print.
    """

    points: list[Imported] = field(default_factory=list)
    suites: list[str] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)


@dataclass(frozen=True)
class LogFile:
    """A file that was read, and its log."""

    path: Path
    size_bytes: int
    log: Log


def read_file(path: Path, ranks: int | Sequence[int] = 0, pattern: str = "") -> tuple[Log, int]:
    """A log from a file, and its size in bytes; `ranks` and `pattern` are the user's.

    Raises InputError for a file without results and for numbers of ranks that are not those of its
    tables, MissingError if it cannot be read.
    """
    try:
        content = path.read_bytes()
    except IsADirectoryError as error:
        raise _useless(path, "is a folder") from error
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist", "name files with logs") from error
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise MissingError(f"{path} cannot be read: {cause}") from error
    if not content.strip():
        raise _useless(path, "is empty")
    log = read_text(decode(content), ranks, str(path), pattern)
    if not log.suites:
        is_binary = b"\0" in content and not content.startswith(_MARKED[1][0][:2])
        raise _useless(path, "is binary" if is_binary else "has no known format")
    if not log.points:
        of = " and ".join(formats()[suite] for suite in log.suites)
        raise _useless(path, f"holds no result, though it looks like {of}")
    return log, len(content)


def _useless(path: Path, why: str) -> InputError:
    logs = f"known are logs of {', '.join(formats().values())}"
    return InputError(f"{path} {why}", f"{logs}, and programs of {', '.join(FORMS)}")


def formats() -> Mapping[str, str]:
    """The suite and versions of every format, by its name."""
    return {name: importer.description for name, importer in load(PACKAGE, Importer).items()}


def decode(content: bytes) -> str:
    """Decode text in any encoding of logs; undecodable bytes become replacement marks."""
    for mark, encoding in _MARKED:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    return content.decode("utf-8", errors="replace")


def read_text(text: str, ranks: int | Sequence[int] = 0, name: str = "", pattern: str = "") -> Log:
    """Read a log; `ranks` are the numbers that the user gave, 0 for none: one, or one per table.

    `pattern` is that of tables that do not say what they measured.

    Points have ranks 0 if neither the log nor the user gives their number. Raises InputError if
    the log has a `name` and cannot be imported, or the user's numbers are not those of its tables.
    """
    importers = {name: kind() for name, kind in load(PACKAGE, Importer).items()}
    lines = without_prefixes(plain_lines(text), _heads(tuple(importers.values())))
    user_counts = tuple(filter(None, (ranks,) if isinstance(ranks, int) else ranks))
    log, counts = Log(), LogCounts(user_counts)
    comma = writes_decimal_comma(lines)
    launch, launch_line = LoggedLaunch(""), 0
    only_given = user_counts[0] if len(user_counts) == 1 else 0
    for number, (suite, first, last) in enumerate(_parts(lines, importers)):
        part = LogPart(lines[first:last], first + 1, launch.ranks, counts, comma)
        part.launch, part.launch_line, part.pattern = launch, launch_line, pattern
        points = importers[suite].read(part)
        launch, launch_line = part.launch, part.launch_line
        if name and part.refusal:
            raise InputError(f"{name} {part.refusal[0]}", part.refusal[1])
        if not points and not importers[suite].recognises(text):
            continue
        # Tables of different parts are different tables.
        log.points.extend(
            msgspec.structs.replace(
                point, table=(number << 20) + point.table, ranks=point.ranks or only_given
            )
            for point in points
            if is_valid(point)
        )
        log.passed_over.extend(part.passed_over)
        if suite not in log.suites:
            log.suites.append(suite)
    if name:
        counts.check(name)
    log.counts.extend(counts.tables.values())
    return log


def _heads(importers: Sequence[Importer]) -> re.Pattern[str]:
    """The pattern that finds where a header's own text begins."""
    return re.compile("|".join(importer.head for importer in importers if importer.head))


def _parts(lines: Sequence[str], importers: Mapping[str, Importer]) -> list[tuple[str, int, int]]:
    """Consecutive lines by suite: name, first line, line after the last.

    Lines before the first header belong to its part: command lines and the output of a library.
    A text without any header is tried with the formats that have none.
    """
    begins: list[tuple[str, int]] = []
    marked = _marked(tuple(mark for kind in importers.values() for mark in kind.marks))
    for place, line in enumerate(lines):
        if marked.search(line) is None:
            continue
        for name, importer in importers.items():
            if importer.recognises(line):
                if not begins or begins[-1][0] != name:
                    begins.append((name, place if begins else 0))
                break
    if not begins:
        return [(name, 0, len(lines)) for name, kind in importers.items() if kind.headless]
    ends = [*(place for _, place in begins[1:]), len(lines)]
    return [(name, place, end) for (name, place), end in zip(begins, ends, strict=True)]


@functools.cache
def _marked(marks: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern that finds any of the words in a line; most lines have none."""
    return re.compile("|".join(map(re.escape, marks)))


def is_valid(point: Imported) -> bool:
    """Whether a point meets the invariants of points."""
    return (
        len(point.samples_s) > 0
        and all(map(is_time, point.samples_s))
        and 0 <= point.size_bytes <= SIZE_BYTES_MAX
        and 0 <= point.ranks <= RANKS_MOST
        and 0 <= point.bytes_per_time < 1 << 63
        and all(map(math.isfinite, (*point.values.values(), *point.rank_s)))
    )
