"""nccl-tests (and rccl-tests): the table on the screen, and the JSON file of -J.

Times are microseconds, the mean of a loop. `size` is the larger of what a rank sends and receives,
so of some operations it is the data of all ranks: their block is `count` elements. Rates (algbw,
and busbw, which is scaled by the operation) are kept as values. In place and out of place are two
points. With -I the JSON file has each iteration, which are then the samples, as the means of
cycles (-N) are. A table names no operation, the command does; reductions follow from the columns
without it.
"""

import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from nhalf.exchange.importers import Imported, Importer, Values
from nhalf.exchange.logs.launch import RANKS_MOST
from nhalf.exchange.logs.part import LogPart, Seconds, is_row, is_time, slug

_PATTERNS = {
    "all-reduce": "allreduce", "all-gather": "allgather", "broadcast": "bcast",
}  # fmt: skip
_BLOCKS = ("allgather", "alltoall", "alltoallv", "gather", "scatter")
"""Operations whose size is the message between one pair of ranks, not the data of all ranks."""
_TYPE_BYTES = {
    "int8": 1, "uint8": 1, "char": 1, "f8e4m3": 1, "f8e5m2": 1, "fp8_e4m3": 1, "fp8_e5m2": 1,
    "half": 2, "bfloat16": 2, "float16": 2, "int32": 4, "uint32": 4, "int": 4, "float": 4,
    "int64": 8, "uint64": 8, "double": 8,
}  # fmt: skip
_VALUES = {
    "i_min": ("minimum_s", 1e-6), "i_max": ("maximum_s", 1e-6), "i_p99": ("p99_s", 1e-6),
    "algbw": ("algbw_Bps", 1e9), "busbw": ("busbw_Bps", 1e9),
    "alg_bw": ("algbw_Bps", 1e9), "bus_bw": ("busbw_Bps", 1e9),
}  # fmt: skip
_NAME = re.compile(r"\b([a-z_]{4,30})_perf(?:[_-]mpi)?\b")
_RANK = re.compile(r"#?\s{1,8}Rank\s{1,8}(\d{1,7})\b")
_THREADS = re.compile(r"nThread (\d{1,4}) nGpus (\d{1,4})\b")
_TOKENS = re.compile(
    r'\{\s{0,40}"size"\s{0,4}:|"rank"\s{0,4}:|"args"\s{0,4}:|"(?:nthreads|ngpus)"\s{0,4}:'
)
IN_PLACE = {"place": "in"}
_UNITS = {"(B)", "(elements)", "(us)", "(GB/s)"}
_DIGITS = re.compile(r"\d{1,7}\b")
BLANK = 20
"""More blanks than this between two columns are columns without numbers."""


@dataclass
class _Table:
    """The information in the lines above the rows."""

    number: int
    pattern: str = ""
    ranks: int = 0
    columns: list[str] = field(default_factory=list)
    per_process: int = 0
    head: dict[str, str] = field(default_factory=dict)


class NcclTests(Importer):
    """The screen by its columns' names; JSON record by record, so that a truncated file is read."""

    description = "nccl-tests (screen and JSON)"
    marks = (
        *("nThread ", "# nccl-tests version", "# Collective test starting", '"nccl_version"'),
        *("  algbw", "\talgbw"),
    )
    head = r"#\s?nThread |\bnThread \d|# nccl-tests version|# Collective test starting"

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row of every table, then every record of JSON."""
        all_points: list[Imported] = []
        table = _Table(0)
        for place, line in enumerate(part.lines):
            if '"' in line and ("{" in line or ":" in line):
                continue
            part.note_launcher(line, place)
            if "nThread " in line and (threads := _THREADS.search(line[:300])):
                table = _Table(table.number + 1, table.pattern)
                table.per_process = int(threads[1]) * int(threads[2])
            if match := _NAME.search(line[:1000]):
                table.pattern = _pattern(match[1])
            if match := _RANK.search(line[:100]):
                table.ranks = max(table.ranks, min(int(match[1]) + 1, RANKS_MOST))
            elif "algbw" in line:
                table.columns = [name for name in line.split() if name not in ("#", "timestamp")]
                table.pattern = table.pattern or part.pattern
                if part.launch.text:
                    table.head["command"] = " ".join(part.launch.words)
                if not table.ranks and part.ranks and table.per_process:
                    table.ranks = part.ranks * table.per_process
            elif "(elements)" in line and not _UNITS.issuperset(re.findall(r"\([^()]*\)", line)):
                table.columns = ["in other units"]
            elif table.columns and is_row(line):
                points = _row(line, table, part)
                all_points += points
                if not points:
                    part.pass_over(place)
        records = _records("\n".join(part.lines), part, table.number + 1)
        return _cycles([*all_points, *records])


def _cycles(points: Sequence[Imported]) -> list[Imported]:
    """The points of each table: cycles of one process (-N), which repeat them, are samples."""
    merged: dict[tuple[object, ...], Imported] = {}
    for point in points:
        key = (point.table, point.pattern, point.size_bytes, *sorted(point.axes.items()))
        if first := merged.get(key):
            point = msgspec.structs.replace(
                first,
                samples_s=(*first.samples_s, *point.samples_s),
                verified=first.verified and point.verified,
                values={},
                raw=True,
            )
        merged[key] = point
    return list(merged.values())


def _pattern(name: str) -> str:
    return _PATTERNS.get(slug(name), slug(name))


def _row(line: str, table: _Table, part: LogPart) -> list[Imported]:
    """The out-of-place and the in-place point of one row; none if the row is incomplete."""
    tokens = line.split()
    names = _names(table.columns, len(tokens))
    times = [i for i, name in enumerate(names) if name in ("time", "cputime")] or [len(names)]
    first = times[0]
    width = (times[1] if len(times) > 1 else len(names)) - first
    tokens = tokens[: len(names)]
    is_half = len(times) > 1 and len(tokens) == first + width
    if width < 3 or first < 3 or not (is_half or len(tokens) == len(names)):
        return []
    head = dict(zip(names[:first], tokens[:first], strict=True))
    if not table.ranks:
        table.ranks = part.ranks_of(table.number, table.pattern or "a test of nccl-tests")
    pattern = table.pattern or _reduction(head, table, part)
    size_bytes = _message_bytes(head, pattern, part)
    halves = [tokens[first : first + width], tokens[first + width :]]
    if is_half and _is_blank_before(line, tokens[first - 1], tokens[first]):
        halves = [[], halves[0]]  # replays of a trace have no out-of-place half
    points = []
    for axes, half in zip(({}, IN_PLACE), halves, strict=True):
        if not half:
            continue
        cells = dict(zip(names[first:], half, strict=False))
        point = _timed(cells, size_bytes, axes, table, part)
        if point is None or not pattern:
            return []
        points.append(msgspec.structs.replace(_typed(point, head, table), pattern=pattern))
    return points


def _typed(point: Imported, head: dict[str, str], table: _Table) -> Imported:
    """A point with the reduction of its row as an axis, and the type of its elements."""
    axes_of_type = {} if head.get("redop", "sum") in ("sum", "none") else {"op": head["redop"]}
    types = {"datatype": head["type"]} if head.get("type") else {}
    return msgspec.structs.replace(
        point, axes={**point.axes, **axes_of_type}, head={**table.head, **types}
    )


def _names(columns: list[str], count: int) -> list[str]:
    """The columns of a row with `count` words: old versions leave redop and root blank."""
    printed = [name for name in columns if name not in ("redop", "root")]
    is_blank = "redop" in columns and count == len(printed)
    return printed if is_blank else columns


def _is_blank_before(line: str, before: str, word: str) -> bool:
    """Whether there is room for other columns between two words of a row."""
    gap = re.search(rf"{re.escape(before)}(\s+){re.escape(word)}(?:\s|$)", line[:400])
    return gap is not None and len(gap[1].expandtabs()) > BLANK


def _reduction(head: dict[str, str], table: _Table, part: LogPart) -> str:
    """The operation of a row where nothing names it; '' if its columns leave that open."""
    size_bytes, count = part.size(head.get("size", "")), part.size(head.get("count", ""))
    bytes_of_count = count * _TYPE_BYTES.get(head.get("type", ""), 0)
    is_sum = head.get("redop", "none") != "none"
    if is_sum and bytes_of_count > 0 and head.get("root", "-1") == "-1":
        if size_bytes == bytes_of_count:
            return "allreduce"
        if table.ranks > 1 and size_bytes == bytes_of_count * table.ranks:
            return "reduce-scatter"
    if is_sum and head.get("root", "-1").isdecimal() and size_bytes == bytes_of_count:
        return "reduce"
    if is_sum and size_bytes == 0:
        return ""  # other rows may tell
    reason = "does not name the operation that nccl-tests measured, and its columns leave it open"
    part.refuse(reason, "name it with --pattern, such as --pattern allgather")
    return ""


def _message_bytes(head: dict[str, str], pattern: str, part: LogPart) -> int:
    """The message's size as nhalf counts it; -1 when it is unknown."""
    size_bytes = part.size(head.get("size", ""))
    element_bytes = _TYPE_BYTES.get(head.get("type", ""), 0)
    if pattern in _BLOCKS and element_bytes and size_bytes >= 0:
        count = part.size(head.get("count", ""))
        return part.size(str(count * element_bytes)) if count >= 0 else -1
    return size_bytes


def _timed(
    cells: dict[str, str], size_bytes: int, axes: dict[str, str], table: _Table, part: LogPart
) -> Imported | None:
    time_s = part.number(cells.get("time", cells.get("cputime", ""))) / 1e6
    wrong = cells.get("#wrong", cells.get("error", "N/A"))
    wrong_count = 0.0 if wrong == "N/A" else part.number(wrong)
    if not is_time(time_s) or size_bytes < 0 or math.isnan(wrong_count):
        return None
    values = {
        _VALUES[name][0]: value * _VALUES[name][1]
        for name, text in cells.items()
        if name in _VALUES and math.isfinite(value := part.number(text))
    }
    return _point(table, size_bytes, (time_s,), axes, values, "error" in cells or not wrong_count)


def _point(
    table: _Table,
    size_bytes: int,
    samples_s: Seconds,
    axes: dict[str, str],
    values: Values,
    verified: bool,
    ranks: int = 0,
) -> Imported:
    return Imported(
        pattern=table.pattern or "nccl-tests",
        size_bytes=size_bytes,
        samples_s=samples_s,
        ranks=ranks or table.ranks,
        bytes_per_time=size_bytes,
        table=table.number,
        axes=axes,
        values=values,
        transport="nccl",
        mpi="",
        verified=verified,
        raw=len(samples_s) > 1,
    )


def _records(text: str, part: LogPart, number: int) -> Iterator[Imported]:
    decode = json.JSONDecoder().raw_decode
    table = _Table(number)
    place = 0
    for kind, chunk in _chunks(text) if "{" in text else ():
        if kind == "rank":
            _count_rank(table, _leading(chunk, -1))
        elif kind == "per process":
            table.per_process *= _leading(chunk, 1)
        elif kind in ("record", "arguments"):
            try:
                value, _ = decode(chunk)
            except (ValueError, RecursionError):
                part.pass_over(min(place, len(part.lines) - 1))
                value = None
            if kind == "record" and isinstance(value, dict):
                yield from _record(value, table, part)
            elif kind == "arguments":
                words = value if isinstance(value, list) else []
                name = _NAME.search(str(words[0])[-100:]) if words else None
                table = _Table(table.number + 1, _pattern(name[1]) if name else "", per_process=1)
        place += chunk.count("\n")


def _leading(text: str, fallback: int) -> int:
    """The whole number with which a text begins."""
    digits = _DIGITS.match(text)
    return int(digits[0]) if digits else fallback


def _count_rank(table: _Table, rank: int) -> None:
    """Take the number of a rank: the files hold only the first rank of every process."""
    per_process = max(table.per_process, 1)
    if 0 <= rank < RANKS_MOST:
        is_first_of_process = rank % per_process == 0
        table.ranks = max(table.ranks, rank + (per_process if is_first_of_process else 1))


def _chunks(text: str) -> Iterator[tuple[str, str]]:
    """The text in chunks, each with the kind of its first token.

    A record ends before the next one begins, so no chunk is scanned twice.
    """
    matches = list(_TOKENS.finditer(text))
    yield "", text[: matches[0].start()] if matches else text
    for match, following in itertools.zip_longest(matches, matches[1:]):
        end = following.start() if following else len(text)
        if match[0].startswith("{"):
            yield "record", text[match.start() : end]
        elif match[0].startswith('"args"'):
            yield "arguments", text[match.end() : end].lstrip(" ")
        else:
            kind = "rank" if match[0].startswith('"rank"') else "per process"
            yield kind, text[match.end() : end].lstrip(" ")


def _record(record: dict[str, Any], table: _Table, part: LogPart) -> Iterator[Imported]:
    head = {name: str(record.get(name, "")) for name in ("size", "count", "type", "redop")}
    head["redop"] = head["redop"] or "none"
    size_bytes = _message_bytes(head, table.pattern, part)
    for way, axes in (("out_of_place", {}), ("in_place", IN_PLACE)):
        half = record.get(way)
        if not isinstance(half, dict):
            continue
        time_s = _number(half.get("time", half.get("cpu_time"))) / 1e6
        samples_s = _iterations(record.get(f"{way}_per_iter"))
        wrong = half.get("nwrong")
        if is_time(time_s) and size_bytes >= 0:
            verified = wrong is None or wrong == 0
            values = {"average_s": time_s} if samples_s else {}
            values |= {
                _VALUES[name][0]: rate * _VALUES[name][1]
                for name in ("alg_bw", "bus_bw")
                if math.isfinite(rate := _number(half.get(name)))
            }
            point = _point(table, size_bytes, samples_s or (time_s,), axes, values, verified)
            yield _typed(point, head, table)


def _number(value: object) -> float:
    """A JSON number; NaN for anything else."""
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.nan


def _iterations(report: object) -> list[float]:
    """The times of single iterations but those of -K, seconds; none if any is invalid."""
    times = report.get("times_us") if isinstance(report, dict) else None
    if not isinstance(times, list):
        return []
    skipped = report.get("skipped_iterations") if isinstance(report, dict) else 0
    begin = skipped if isinstance(skipped, int) and 0 <= skipped < len(times) else 0
    samples_s = [_number(value) / 1e6 for value in times[begin:]]
    return samples_s if all(map(is_time, samples_s)) else []
