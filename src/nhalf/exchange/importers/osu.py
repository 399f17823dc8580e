# SPDX-License-Identifier: Apache-2.0
"""OSU Micro-Benchmarks: a title, comments, a line of column names, rows.

Times are microseconds, MB/s are 10^6 bytes per second. Latency of two ranks is half a round trip.
Collectives have the mean over ranks, with -f also the largest and the smallest of the ranks' means:
the largest is taken, since an operation has ended when its last rank has.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import msgspec

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import RANKS_MOST, Part, is_row, is_time, ratio, slug

_COLUMN = re.compile(
    r"transmitsize|size|iterations|validation|messages/s|mb/s|overlap\(%\)|bandwidth\(mb/s\)|"
    r"(?:(?:avg|min|max)?latency|overall|compute|coll\.init|mpi_test|mpi_wait|"
    r"(?:pure|min|max)comm\.|waitavg|initavg|p\d{1,2}(?:\.\d{1,4})?taillat)\(us\)|"
    r"p\d{1,2}(?:\.\d{1,4})?tailbw\(mb/s\)"
)
_TIME = ("maxlatency(us)", "avglatency(us)", "latency(us)", "maxcomm.(us)", "purecomm.(us)")
"""Columns with the point's time; the first one present is used."""
_RATE = ("messages/s", "bandwidth(mb/s)", "mb/s")
_OVERLAPPED = "overall(us)"
"""The time of a non-blocking operation while its ranks compute: its own point."""
_VALUES_S = {
    "avglatency(us)": "average_s", "minlatency(us)": "minimum_s", "maxlatency(us)": "maximum_s",
    "purecomm.(us)": "pure_s", "mincomm.(us)": "minimum_s", "maxcomm.(us)": "maximum_s",
    "overall(us)": "overall_s", "compute(us)": "work_s", "coll.init(us)": "initiate_s",
    "mpi_test(us)": "test_s", "mpi_wait(us)": "wait_s",
}  # fmt: skip

_PATTERNS = {
    "latency": "pingpong",
    "bandwidth": "stream",
    "bi-directional bandwidth": "bibw",
    "bidirectional bandwidth": "bibw",
    "multi latency": "pairs-latency",
    "multiple bandwidth / message rate": "pairs-bandwidth",
}
_OPERATIONS = {
    "broadcast": "bcast",
    "all-to-all": "alltoall",
    "all-to-allv": "alltoallv",
    "all-to-allw": "alltoallw",
    "reduce_scatter": "reduce-scatter",
    "reduce-scatter": "reduce-scatter",
    "reduce scatter": "reduce-scatter",
}
_OF_ALL_RANKS = ("bcast", "scatter", "gather", "alltoall", "reduce", "barrier", "scan")
_INIT = re.compile(r"nprocs: *(\d{1,7}), *min: *(\d+) *ms, *max: *(\d+) *ms, *avg: *(\d+) *ms")


@dataclass
class _Table:
    """The information in the lines above the rows."""

    number: int
    pattern: str
    transport: str
    axes: dict[str, str]
    columns: list[str] = field(default_factory=list)
    pairs: int = 0
    window: int = 0


class Osu(Importer):
    """Tables of any version, read by their columns' names."""

    description = "OSU Micro-Benchmarks 5.x to 7.5"
    marks = ("# OSU ",)

    def read(self, part: Part) -> list[Imported]:
        """Every valid row of every table."""
        all_points: list[Imported] = []
        table: _Table | None = None
        for place, line in enumerate(part.lines):
            if "# OSU " in line:
                table = _table(line.partition("# OSU ")[2], table.number + 1 if table else 0)
                continue
            part.note_launcher(line)
            if table is None:
                continue
            if "#" in line[:4] or "(us)" in line:
                _comment(table, line)
                continue
            points = _init(line, table) if "nprocs:" in line else _row(line, table, part)
            if points is not None:
                all_points += points
            elif is_row(line) or "nprocs:" in line:
                part.pass_over(place)
        return all_points


def _table(title: str, number: int) -> _Table:
    """A table from its title, such as `MPI-CUDA Broadcast Latency Test v5.8`."""
    words = title[:200].partition(" Test")[0].split()
    head, _, memory = (words[0] if words else "").partition("-")
    operation = " ".join(words[1:]).lower()
    if head.lower().startswith("mpi_"):
        # One-sided tests are called after the function, as in `OSU MPI_Put Latency Test`.
        operation = f"{head[4:].lower()} {operation}"
        head = "MPI"
    axes = {"memory": slug(memory)} if memory else {}
    return _Table(number, _pattern(operation), slug(head), axes)


def _pattern(operation: str) -> str:
    if operation in _PATTERNS:
        return _PATTERNS[operation]
    name = operation.removeprefix("non-blocking ").replace(" personalized exchange", "")
    base = _OPERATIONS.get(name.removesuffix(" latency"), slug(name.removesuffix(" latency")))
    if not any(word in base for word in _OF_ALL_RANKS):
        base = slug(name)
    return f"i{base}" if operation.startswith("non-blocking ") else base


def _comment(table: _Table, line: str) -> None:
    """Pairs, window, ways of one-sided communication, or the names of the columns."""
    words = line.strip(" \t#[]")
    if words.startswith("pairs:"):
        numbers = [int(word) for word in re.findall(r"\d{1,7}", words[:100])]
        table.pairs, table.window = [*numbers, 0, 0][:2]
        return
    name, colon, value = words.partition(": ")
    if colon and name in ("Window creation", "Synchronization"):
        key = "window" if name.startswith("W") else "synchronization"
        table.axes[key] = slug(value.removeprefix("MPI_Win_"))
        return
    compact = "".join(words[:500].lower().split())
    columns = [match[0] for match in _COLUMN.finditer(compact)]
    if columns and sum(map(len, columns)) == len(compact):
        table.columns = columns


def _row(line: str, table: _Table, part: Part) -> list[Imported] | None:
    """The points of one row: one, two if computing overlaps, None if the line is no row.

    The list is empty if a time or a rate is too small to be printed (0.00).
    """
    tokens = line.split()
    if not table.columns or len(tokens) != len(table.columns):
        return None
    verdict = "pass"
    cells: dict[str, float] = {}
    for name, token in zip(table.columns, tokens, strict=True):
        if name == "validation":
            verdict = token.lower()
            continue
        cells[name] = part.number(token)
        if math.isnan(cells[name]) or cells[name] < 0:
            return None
    size = cells.get("size", 0.0)
    size_bytes = part.size(f"{size:.0f}") if size == int(size) else -1
    if size_bytes < 0 or verdict not in ("pass", "fail"):
        return None
    timed = [next((name for name in (*_TIME, *_RATE) if name in cells), "")]
    if _OVERLAPPED in cells:
        timed.append(_OVERLAPPED)
    if any(cells.get(name) == 0 for name in timed):
        return []
    points = [_point(size_bytes, cells, name, table, part) for name in timed]
    valid = [
        msgspec.structs.replace(point, verified=verdict == "pass")
        for point in points
        if point is not None
    ]
    return valid if len(valid) == len(points) else None


def _point(
    size_bytes: int, cells: dict[str, float], timed: str, table: _Table, part: Part
) -> Imported | None:
    """The point of a row; its time is in column `timed`, or follows from a rate."""
    ranks = part.ranks if any(word in table.pattern for word in _OF_ALL_RANKS) else 2
    axes = {**table.axes, **({"work": "1"} if timed == _OVERLAPPED else {})}
    moved_bytes = size_bytes * (2 if table.pattern == "bibw" else 1)
    if table.pattern.startswith("pairs-"):
        pairs = table.pairs or max(1, part.ranks // 2)
        ranks = 2 * pairs if table.pairs else part.ranks
        axes["pairs"] = str(pairs)
        moved_bytes *= pairs if table.pattern == "pairs-bandwidth" else 1
    if timed == "messages/s":
        time_s = ratio(int(axes.get("pairs", "1")), cells[timed])
    elif timed in _RATE:
        time_s = ratio(moved_bytes, cells[timed] * 1e6)
    else:
        time_s = cells.get(timed, math.nan) / 1e6
    if not is_time(time_s) or ranks > RANKS_MOST:
        return None
    return Imported(
        pattern=table.pattern,
        size_bytes=size_bytes,
        samples_s=(time_s,),
        ranks=ranks,
        bytes_per_time=moved_bytes,
        table=table.number,
        axes=axes,
        values=_values(cells, timed, table),
        transport=table.transport,
    )


def _values(cells: dict[str, float], timed: str, table: _Table) -> dict[str, float]:
    """The values of the row besides its time; percentiles of rates keep the unit of a rate."""
    values = {
        _VALUES_S[name]: value / 1e6
        for name, value in cells.items()
        if name in _VALUES_S and name != timed
    }
    for name, value in cells.items():
        if "tail" in name:
            percent = name.partition("tail")[0].replace(".", "_")
            is_rate = name.endswith("(mb/s)")
            unit, scaled = ("_Bps", value * 1e6) if is_rate else ("_s", value / 1e6)
            values[percent + unit] = scaled
    if "overlap(%)" in cells:
        values["overlap"] = cells["overlap(%)"] / 100
    if table.window:
        values["window"] = float(table.window)
    return values


def _init(line: str, table: _Table) -> list[Imported] | None:
    """The single line of osu_init, milliseconds; None if it is incomplete."""
    match = _INIT.search(line[:400])
    if match is None or any(len(text) > 12 for text in match.groups()):
        return None
    ranks, least, most, mean = (int(text) for text in match.groups())
    if not is_time(most / 1e3) or not 1 <= ranks <= RANKS_MOST:
        return None
    values = {"average_s": mean / 1e3, "minimum_s": least / 1e3}
    return [Imported("init", 0, (most / 1e3,), ranks, 0, table.number, {}, values)]
