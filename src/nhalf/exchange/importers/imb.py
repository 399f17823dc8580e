# SPDX-License-Identifier: Apache-2.0
"""Intel MPI Benchmarks: a header, then a frame with the benchmark's name above each table.

Times are microseconds; t_min, t_max and t_avg are over ranks, of each rank's mean: t_max is
taken. Megabytes per second are not used: they were 2^20 bytes once and are 10^6 today.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import msgspec

from nhalf.exchange.importers import UNNAMED, Imported, Importer
from nhalf.exchange.logs.part import RANKS_MOST, Part, is_row, is_time, ratio, slug

_PATTERNS = {
    "reduce-scatter": "reduce-scatter",
    "exchange": "imb-exchange",  # with both neighbours: four messages, not nhalf's exchange
    "uniband": "stream",
}
_MESSAGES = {"exchange": 2, "sendrecv": 2, "imb-exchange": 4}
"""Messages in and out of a rank in the time of one row, if not one."""
_VALUES_S = {
    "t_avg[usec]": "average_s", "t_min[usec]": "minimum_s", "t_max[usec]": "maximum_s",
    "t_ovrl[usec]": "overall_s", "t_CPU[usec]": "work_s", "t_pure[usec]": "pure_s",
}  # fmt: skip
_TIME = ("t_max[usec]", "t[usec]", "t_pure[usec]")
_OVERLAPPED = "t_ovrl[usec]"
"""The time of a non-blocking operation while its ranks compute: its own point."""
_GROUPS = re.compile(r"# *\( *(\d{1,7}) groups? of (\d{1,7}) process")
_LIBRARY = re.compile(r"Intel\(R\) MPI Library,? Version ([\d.]{1,20})")


@dataclass
class _Table:
    """The information in the frame above the rows."""

    number: int
    name: str
    ranks: int = 0
    groups: int = 1
    mode: str = ""
    columns: list[str] = field(default_factory=list)


class Imb(Importer):
    """Tables of IMB-MPI1, -NBC, -RMA, -P2P and others with this format."""

    description = "Intel MPI Benchmarks"
    marks = ("# Benchmarking ", "Intel(R) MPI Benchmark", "Intel (R) MPI Benchmark")

    def read(self, part: Part) -> list[Imported]:
        """Every valid row of every table."""
        all_points: list[Imported] = []
        table: _Table | None = None
        number, mpi = 0, UNNAMED
        for place, line in enumerate(part.lines):
            if "# Benchmarking " in line:
                number += 1
                table = _Table(number, line.partition("# Benchmarking ")[2].strip()[:80])
            elif "#repetitions" in line:
                if table is not None:
                    table.columns = line.split()
            elif "#" in line[:2] or table is None:
                mpi = _library(line, mpi)
                if table is not None:
                    _comment(table, line)
            elif is_row(line):
                points = _row(line, table, part)
                if points is None:
                    part.pass_over(place)
                else:
                    all_points += [msgspec.structs.replace(point, mpi=mpi) for point in points]
        return all_points


def _library(line: str, current: str) -> str:
    """The library's name if it prints one; else the standard's version in the header."""
    if match := _LIBRARY.search(line[:300]):
        return f"intel-{match[1].rstrip('.')}"
    if line.startswith("# MPI Version") and current == UNNAMED:
        version = line.partition(":")[2].strip()
        return f"mpi-{version}" if re.fullmatch(r"\d{1,2}\.\d{1,2}", version) else current
    return current


def _comment(table: _Table, line: str) -> None:
    """The number of processes, groups that ran at once, and the mode of one-sided tests."""
    if line.startswith("#---"):
        if table.columns:
            table.name, table.columns = "", []
    elif "#processes" in line:
        count = line.partition("=")[2].strip()
        table.ranks = int(count) if count.isdecimal() and len(count) < 8 else 0
    elif match := _GROUPS.match(line):
        table.groups = int(match[1])
        table.ranks = int(match[1]) * int(match[2])
    elif "MODE:" in line:
        table.mode = slug(line.partition("MODE:")[2])


def _row(line: str, table: _Table, part: Part) -> list[Imported] | None:
    """The points of one row: one, two if computing overlaps, None if the row is incomplete.

    The list is empty if a time is too short to be printed (0.00).
    """
    tokens = line.split()
    if not table.name or len(tokens) != len(table.columns):
        return None
    cells = {name: part.number(token) for name, token in zip(table.columns, tokens, strict=True)}
    if any(math.isnan(value) or value < 0 for value in cells.values()):
        return None
    timed = [next((name for name in _TIME if name in cells), "Msg/sec")]
    if _OVERLAPPED in cells:
        timed.append(_OVERLAPPED)
    if any(cells.get(name) == 0 for name in timed):
        return []
    points = [_point(cells, name, table, part) for name in timed]
    valid = [point for point in points if point is not None]
    return valid if len(valid) == len(points) else None


def _point(cells: dict[str, float], timed: str, table: _Table, part: Part) -> Imported | None:
    """The point of a row; its time is in column `timed`, or follows from a rate."""
    size = cells.get("#bytes", 0.0)
    size_bytes = part.size(f"{size:.0f}") if size == int(size) else -1
    ranks = table.ranks or part.ranks
    pattern, axes = _identity(table, ranks, cells)
    messages = _messages(pattern, ranks)
    if timed == _OVERLAPPED:
        axes["work"] = "1"
    # A rate counts the messages of all ranks: the time is that of one from each sender.
    rate = cells.get("Msg/sec", 0.0)
    time_s = ratio(messages, rate) if timed == "Msg/sec" else cells[timed] / 1e6
    if size_bytes < 0 or not is_time(time_s) or ranks > RANKS_MOST:
        return None
    return Imported(
        pattern=pattern,
        size_bytes=size_bytes,
        samples_s=(time_s,),
        ranks=ranks,
        bytes_per_time=size_bytes * messages,
        table=table.number,
        axes=axes,
        values=_values(cells, timed),
        verified=cells.get("defects", 0.0) == 0,
    )


def _identity(table: _Table, ranks: int, cells: dict[str, float]) -> tuple[str, dict[str, str]]:
    """Pattern and axes of a benchmark: several pairs or groups at once are not one of them."""
    name = table.name.split()[0]
    base = slug(name.removeprefix("Multi-"))
    axes = {"mode": table.mode} if table.mode else {}
    if base == "sendrecv":
        # Two ranks exchange; more of them form a ring.
        pattern = "exchange" if ranks == 2 * table.groups else "sendrecv"
    else:
        pattern = _PATTERNS.get(base, base)
    if base == "uniband" and ranks > 2:
        return "pairs-bandwidth", {**axes, "pairs": str(ranks // 2)}
    if table.groups > 1:
        if base == "pingpong":
            pattern = "pairs-latency"
            axes["pairs"] = str(table.groups)
        else:
            axes["groups"] = str(table.groups)
        if "Group" in cells:
            axes["group"] = f"{cells['Group']:.0f}"[:12]
    return pattern, axes


def _messages(pattern: str, ranks: int) -> int:
    """The number of messages in the time of one row."""
    if pattern == "pairs-bandwidth":
        return ranks // 2
    return max(1, ranks) if pattern == "biband" else _MESSAGES.get(pattern, 1)


def _values(cells: dict[str, float], timed: str) -> dict[str, float]:
    """The values of the row besides its time."""
    values = {
        _VALUES_S[name]: value / 1e6
        for name, value in cells.items()
        if name in _VALUES_S and name != timed
    }
    if "overlap[%]" in cells:
        values["overlap"] = cells["overlap[%]"] / 100
    if "#repetitions" in cells:
        values["repetitions"] = cells["#repetitions"]
    return values
