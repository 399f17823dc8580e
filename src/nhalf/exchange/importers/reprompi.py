"""ReproMPI: `#@key=value` lines, a line of column names, then every single repetition.

Times are seconds, the maximum over processes; messages are counted in elements of the datatype
(`count`) or in bytes (`msize_bytes`). With -v a row is one process: the time of a repetition
runs from the first start to the last end on the global clock, or is the longest process's on
local ones, and the median of each process is kept. With --summary the median is the one sample.
"""

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.launch import RANKS_MOST
from nhalf.exchange.logs.part import LogPart, Seconds, is_row, is_time, slug

_TIMES = ("runtime_sec", "loc_tend_sec", "median_sec", "mean_sec", "min_sec", "max_sec")
_SUMMARY = {"median_sec": "median_s", "mean_sec": "average_s", "min_sec": "minimum_s",
            "max_sec": "maximum_s"}  # fmt: skip
_SIZES = ("count", "msize", "msize_bytes")

Key = tuple[str, int]
Summary = dict[str, float]
Ticks = tuple[int, int, float, float]
"""Repetition, process, start and end, seconds."""


@dataclass
class _Table:
    """A header, and the contents of the rows below it by call and bytes."""

    number: int
    ranks: int = 0
    element_bytes: int = 1
    columns: list[str] = field(default_factory=list)
    samples_s: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    ticks: dict[Key, list[Ticks]] = field(default_factory=lambda: defaultdict(list))
    summaries: dict[Key, Summary] = field(default_factory=dict)


class ReproMpi(Importer):
    """Raw rows, rows per process, and summaries, read by their columns' names."""

    description = "ReproMPI"
    head = r"#@nprocs=|#@reproMPI"
    marks = ("#@nprocs=", "#@reproMPI", "runtime_sec", "loc_tstart_sec", "total_nrep")

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row; a second line of column names begins another table."""
        tables = [_Table(0)]
        for place, line in enumerate(part.lines):
            table = tables[-1]
            part.note_launcher(line, place)
            if "#@" in line[:4]:
                _setting(line, table)
            elif "nrep" in line and any(name in line for name in _TIMES):
                if table.columns:
                    table = _Table(len(tables), table.ranks, table.element_bytes)
                    tables.append(table)
                table.columns = line.split()
                continue
            tokens = line.split() if table.columns and "#" not in line[:4] else []
            if tokens and is_row(tokens[-1]) and not _row(tokens, table, part):
                part.pass_over(place)
        for table in tables:
            if not table.ranks and (table.samples_s or table.summaries):
                calls = {call for call, _ in (*table.samples_s, *table.summaries)}
                table.ranks = part.ranks_of(table.number, " and ".join(sorted(calls))[:60])
        return [point for table in tables for point in _points(table)]


def _setting(line: str, table: _Table) -> None:
    """Take the number of processes and the size of an element from a `#@key=value` line."""
    key, _, value = line.strip().removeprefix("#@").partition("=")
    if not value.isdecimal() or len(value) > 7:
        return
    if key == "nprocs" and int(value) <= RANKS_MOST:
        table.ranks = int(value)
    elif key == "datatype_size_bytes" and int(value) > 0:
        table.element_bytes = int(value)


def _row(tokens: list[str], table: _Table, part: LogPart) -> bool:
    """Keep one row, unless it missed its window; returns whether the row is complete."""
    if len(tokens) != len(table.columns):
        return False
    texts = dict(zip(table.columns, tokens, strict=True))
    count = next((part.size(texts[name]) for name in _SIZES if name in texts), 0)
    size_bytes = count if "msize_bytes" in texts else part.size(str(count * table.element_bytes))
    if "test" not in texts or count < 0 or size_bytes < 0:
        return False
    key = (texts["test"], size_bytes)
    if texts.get("errorcode", "0") != "0":
        return texts["errorcode"].isdecimal()
    if "loc_tend_sec" in texts:
        return _tick(texts, table, part, key)
    if "runtime_sec" in texts:
        time_s = part.number(texts["runtime_sec"])
        if is_time(time_s):
            table.samples_s[key].append(time_s)
        return is_time(time_s)
    return _summary(texts, table, part, key)


def _summary(texts: dict[str, str], table: _Table, part: LogPart, key: Key) -> bool:
    """Keep a row of --summary; returns whether it is complete."""
    summary = {name: part.number(texts[name]) for name in _SUMMARY if name in texts}
    if not summary or not all(map(is_time, summary.values())):
        return False
    table.summaries[key] = summary
    return True


def _tick(texts: dict[str, str], table: _Table, part: LogPart, key: Key) -> bool:
    """Keep the start and end of one process, on the global clock if there is one."""
    clock = "gl" if "gl_tend_sec" in texts else "loc"
    start_s = part.number(texts.get(f"{clock}_tstart_sec", ""))
    end_s = part.number(texts[f"{clock}_tend_sec"])
    repetition, process = part.size(texts.get("nrep", "")), part.size(texts.get("process", ""))
    is_valid = is_time(end_s - start_s) and 0 <= process < RANKS_MOST and repetition >= 0
    if is_valid:
        table.ticks[key].append((repetition, process, start_s, end_s))
    return is_valid


def _points(table: _Table) -> list[Imported]:
    points = []
    for key, samples_s in table.samples_s.items():
        points.append(_point(table, key, samples_s, raw=True))
    for key, ticks in table.ticks.items():
        samples_s, rank_s, ranks = _operations(table, ticks)
        if samples_s:
            points.append(_point(table, key, samples_s, raw=True, rank_s=rank_s, ranks=ranks))
    for key, summary in table.summaries.items():
        timed = next(name for name in _TIMES if name in summary)
        values = {_SUMMARY[name]: value for name, value in summary.items() if name != timed}
        points.append(_point(table, key, [summary[timed]], values=values))
    return points


def _point(
    table: _Table,
    key: Key,
    samples_s: Seconds,
    *,
    raw: bool = False,
    rank_s: Seconds = (),
    ranks: int = 0,
    values: dict[str, float] | None = None,
) -> Imported:
    call, size_bytes = key
    return Imported(
        pattern=slug(call.removeprefix("MPI_")),
        size_bytes=size_bytes,
        samples_s=samples_s,
        ranks=ranks or table.ranks,
        bytes_per_time=size_bytes,
        table=table.number,
        values=values or {},
        rank_s=rank_s,
        raw=raw,
    )


def _operations(table: _Table, ticks: list[Ticks]) -> tuple[list[float], list[float], int]:
    """Times of complete repetitions, the median of each process, and the number of processes."""
    is_global = "gl_tend_sec" in table.columns
    processes = {process for _, process, _, _ in ticks}
    ranks = max(table.ranks, max(processes) + 1)
    repetitions: dict[int, dict[int, tuple[float, float]]] = defaultdict(dict)
    for repetition, process, start_s, end_s in ticks:
        repetitions[repetition][process] = (start_s, end_s)
    samples_s = []
    for _, times in sorted(repetitions.items()):
        if len(times) < ranks:
            continue
        if is_global:
            first_s = min(start_s for start_s, _ in times.values())
            time_s = max(end_s for _, end_s in times.values()) - first_s
        else:
            time_s = max(end_s - start_s for start_s, end_s in times.values())
        samples_s.append(time_s if is_time(time_s) else math.nan)
    by_process: dict[int, list[float]] = defaultdict(list)
    for _, process, start_s, end_s in ticks:
        by_process[process].append(end_s - start_s)
    whole = len(by_process) == ranks
    rank_s = [statistics.median(by_process[p]) for p in sorted(by_process)] if whole else []
    return [time_s for time_s in samples_s if math.isfinite(time_s)], rank_s, ranks
