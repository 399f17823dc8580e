"""A log: its text from bytes, its parts by suite, and their points.

What launchers, log collectors and web pages put before or around each line of a log.

A suite's header shows what comes before its own text: `[1,0]<stdout>:`, `0: `, a time stamp, a
host and a program, `> `. Every line that begins in the same form, with other words and numbers, is
freed of it.
"""

import codecs
import functools
import html
import json
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
from nhalf.exchange.logs.launch import RANKS_MOST, LoggedLaunch
from nhalf.exchange.logs.part import (
    Count,
    LogCounts,
    LogPart,
    PassedOver,
    is_time,
    writes_decimal_comma,
)
from nhalf.exchange.program import FORMS

_ESCAPE = re.compile(
    r"(?:\x1b|\^\[)\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]"
)
_GROUP_SPACE = re.compile(r"(?<=\d)[\xa0\u202f\u2009'’](?=\d{3}(?!\d))")
_INVISIBLE = re.compile("[\ufeff\u200b\u200c\u200d\u2060]")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.,]{8,24}(?:Z|[+-]\d\d:?\d\d)? ")
_LABEL = re.compile(r"\s{0,8}(?:\d{1,7}:|\[\d{1,7}\]) ")
_TAG_HEADS = frozenset("[(0123456789 \t")
_PIECE = re.compile(r"\d+|[^\W\d]\w*|\s+|.", re.DOTALL)
_PAGE = re.compile(
    r"</?(?:pre|code|p|div|span|table|thead|tbody|tt|body|html|b|i|font|li|ul)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_CELL_END = re.compile(r"</t[dh]>", re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK = re.compile(r"<br ?/?>|</tr>|<tr\b[^<>]{0,200}>", re.IGNORECASE)
_MARKUP = ("<pre", "<br", "<td", "<code", "<p>", "<PRE", "<TD", "<BR", "&nbsp;", "&lt;", "&gt;")
PREFIX_MOST = 160
"""Longer ones are text in which a header is quoted."""
FORMS_MOST = 12


def plain_lines(text: str) -> list[str]:
    """The lines of a text without colours, markup of web pages, and marks that nobody sees."""
    if "\x1b" in text or "^[[" in text:
        text = _ESCAPE.sub("", text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "'" in text or not text.isascii():
        text = _GROUP_SPACE.sub("", text)
    if any(mark in text for mark in _MARKUP):
        # In web pages rows of a table are lines.
        text = _BREAK.sub("\n", _CELL.sub("", _CELL_END.sub("  ", text)))
        text = html.unescape(_PAGE.sub("", text))
    text = text.replace("\xa0", " ")
    lines = text.replace("\0", " ").splitlines()
    if any(line.startswith('{"log":') for line in lines[:20]):
        lines = [_of_container(line) for line in lines]
    return lines


def without_prefixes(lines: Sequence[str], head: re.Pattern[str]) -> list[str]:
    """The lines without what stands before the headers, which `head` finds, and its like."""
    forms: dict[str, re.Pattern[str]] = {}
    for line in lines:
        if len(forms) < FORMS_MOST and (begin := head.search(line[: 4 * PREFIX_MOST])) is not None:
            before = line[: begin.start()]
            if before.strip() and len(before) <= PREFIX_MOST:
                form = _form(before)
                forms.setdefault(form, re.compile(form))
    if not forms:
        return [_without_tag(line) if line[:1] in _TAG_HEADS else line for line in lines]
    in_turn = sorted(forms.values(), key=lambda form: -len(form.pattern))
    return [_freed(line, in_turn) for line in lines]


def _freed(line: str, forms: Sequence[re.Pattern[str]]) -> str:
    for form in forms:
        if begin := form.match(line[: 2 * PREFIX_MOST]):
            return line[begin.end() :]
    return _without_tag(line) if line[:1] in _TAG_HEADS else line


def _form(before: str) -> str:
    """The regular expression of a prefix: its words and numbers may be others."""
    parts, was_word = [], False
    for piece in _PIECE.findall(before):
        if piece.isspace():
            parts.append(r"\s{1,40}" if was_word else r"\s{0,40}")
            was_word = False
        elif piece[0].isdigit():
            parts.append(r"\d{1,24}")
            was_word = True
        elif piece[0] == "_" or piece[0].isalpha():
            parts.append(r"[^\W\d]\w{0,60}")
            was_word = True
        else:
            parts.append(re.escape(piece))
            was_word = False
    if before[-1].isspace():
        # A tag's only blank is its own; several belong to the suite's text.
        parts[-1] = r"\s?" if not was_word else r"\s"
    return "".join(parts)


def _without_tag(line: str) -> str:
    """A line without `[1,0]<stdout>:`, `0: `, `[0] ` or a time stamp before it."""
    if "<stdout>" in line:
        line = line.partition("<stdout>")[2].removeprefix(":")
    if line[4:5] == "-" and (stamp := _STAMP.match(line)):
        line = line[stamp.end() :]
    if ("] " in line or ": " in line) and "-->" not in line and (label := _LABEL.match(line)):
        line = line[label.end() :]
    return line


def _of_container(line: str) -> str:
    """What a container printed, from its log in JSON."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return line
    text = entry.get("log") if isinstance(entry, dict) else None
    return text.rstrip("\r\n") if isinstance(text, str) else line


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
    heads = re.compile("|".join(importer.head for importer in importers.values() if importer.head))
    lines = without_prefixes(plain_lines(text), heads)
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
