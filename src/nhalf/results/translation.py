"""The reach of address translation on a core, derived from load timings."""

from collections.abc import Sequence

import polars as pl

from nhalf.base.numbers import format_number
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.node.reading import CHASE, Reading, readings, subject_of
from nhalf.node.translation import PageSizes, TlbReach, page_sizes, tables, translation_steps
from nhalf.results import Column, Result

NO_HUGE = "the system gave no huge pages: all times are those of small ones"


class Translation(Result):
    """One row per table of pages (TLB), nearest first."""

    title = "Address translation"
    patterns = frozenset({CHASE})
    parts = frozenset({CHASE})
    columns = (
        Column("level", "TLB"),
        Column("pages", "pages"),
        Column("reach_bytes", "reach", format_size, with_interval=False),
        Column("beyond_bytes", "less than", format_size),
        Column("miss_s", "a miss adds", format_time),
        Column("miss_cycles", "cycles", format_number),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per table of each run: pages, bytes, cycles and seconds."""
        return [row for item in readings(measurements).items() for row in _rows(*item)]

    def sentences(self, row: Row) -> list[str]:
        """State the load-to-use latency in huge pages and in small ones."""
        if row.get("small_s") is None:
            return []
        return [
            f"Load-to-use latency in {format_size(row['chased_bytes'])}: "
            f"{format_time(row['huge_s'])} in huge pages, {format_time(row['small_s'])} in small "
            "ones."
        ]


def _rows(run: str, run_readings: Sequence[Reading]) -> list[Row]:
    steps = translation_steps(run_readings)
    by_page_size = page_sizes(run_readings)
    if not steps and by_page_size is None:
        return []
    translation = tables(run_readings)
    rows = [{**subject_of(run), **_as_row(reach)} for reach in translation.reaches]
    doubts = [f"not resolved: {translation.unresolved}"] if steps and translation.unresolved else []
    if by_page_size is not None and not by_page_size.is_huge:
        doubts.append(NO_HUGE)
    rows = rows or [subject_of(run)]
    rows[-1] |= {**_as_members(by_page_size), "doubts": doubts}
    return rows


def _as_row(reach: TlbReach) -> Row:
    reach_bytes = reach.pages * reach.page_bytes
    beyond_bytes = reach.pages_beyond * reach.page_bytes
    return {
        "level": reach.level,
        "pages": reach.pages,
        "reach_bytes": reach_bytes,
        "beyond_bytes": beyond_bytes,
        "reach_bytes_ci": [reach_bytes, beyond_bytes],
        "miss_s": reach.miss_s,
        "miss_cycles": reach.miss_cycles,
    }


def _as_members(by_page_size: PageSizes | None) -> Row:
    if by_page_size is None:
        return {}
    return {
        "chased_bytes": by_page_size.size_bytes,
        "huge_s": by_page_size.huge_s,
        "small_s": by_page_size.small_s,
    }
