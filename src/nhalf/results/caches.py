"""The caches of a core, derived from load timings."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from nhalf.base.numbers import MISSING, format_number, span
from nhalf.base.rows import Row, members
from nhalf.base.units import format_size, format_time
from nhalf.node.levels import Level, hierarchy
from nhalf.node.reading import PATTERNS, Reading, readings, subject_of, warnings
from nhalf.results import Column, Result


def size_words(size_bytes: int | None, size_ci: Sequence[float] | None) -> str:
    """The size of a cache; '384 KiB to 640 KiB' where only arrays that begin to miss show it."""
    if size_bytes:
        return format_size(size_bytes)
    return span(min(size_ci), max(size_ci), format_size) if size_ci else MISSING


@dataclass(frozen=True)
class SizeColumn(Column):
    """A column of sizes, some of which are between two arrays."""

    def cell(self, row: Row) -> str:
        """The size, or both ends of what it may be."""
        return size_words(row.get(self.name), row.get("size_ci"))


class Caches(Result):
    """One row per level, nearest first; the last row lists what could not be resolved."""

    title = "Caches"
    patterns = frozenset(PATTERNS)
    parts = frozenset(PATTERNS)
    columns = (
        Column("level", "level"),
        SizeColumn("size_bytes", "size"),
        Column("line_bytes", "line", format_size),
        Column("ways", "ways"),
        Column("hit_s", "load-to-use latency", format_time),
        Column("hit_cycles", "cycles", format_number),
        Column("miss_s", "a miss adds", format_time),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per level of each run: bytes, cycles and seconds."""
        return [row for item in readings(measurements).items() for row in _rows(*item)]


def _rows(run: str, run_readings: Sequence[Reading]) -> list[Row]:
    levels = hierarchy(run_readings)
    rows = [{**subject_of(run), **as_row(level)} for level in levels.levels] or [subject_of(run)]
    rows[-1]["doubts"] = [
        *(f"not resolved: {reason}" for reason in levels.unresolved),
        *warnings(run_readings),
    ]
    return rows


def as_row(level: Level) -> Row:
    """A level for JSON: bytes, seconds, cycles; null for what could not be resolved."""
    return {
        "level": level.level,
        "size_bytes": level.size_bytes,
        "size_ci": list(level.size_ci) if level.size_ci else None,
        **members(level, "line_bytes", "ways", "hit_s"),
        "hit_cycles": level.hit_cycles_median,
        "miss_s": level.miss_s,
    }
