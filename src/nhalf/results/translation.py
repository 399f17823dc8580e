# SPDX-License-Identifier: Apache-2.0
"""The reach of address translation on a core, derived from load timings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.node.reading import CHASE, Reading, readings, subject_of
from nhalf.node.translation import PageSizes, Reach, page_sizes, tables, translation_steps
from nhalf.results import Column, Result

NO_HUGE = "the system gave no huge pages: all times are those of small ones"


def _cycles(value: float) -> str:
    return f"{value:.3g}"


class Translation(Result):
    """One row per table of pages (TLB), nearest first."""

    title: ClassVar[str] = "Address translation"
    patterns: ClassVar[frozenset[str]] = frozenset({CHASE})
    parts: ClassVar[frozenset[str]] = frozenset({CHASE})
    columns: ClassVar[Sequence[Column]] = (
        Column("level", "TLB"),
        Column("pages", "pages"),
        Column("reach_bytes", "reach", format_size, with_interval=False),
        Column("beyond_bytes", "less than", format_size),
        Column("miss_s", "a miss costs", format_time),
        Column("miss_cycles", "cycles", _cycles),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per table of each run: pages, bytes, cycles and seconds."""
        found = readings(measurements)
        return [row for run, ones in found.items() for row in _rows(run, ones)]

    def sentences(self, row: Row) -> list[str]:
        """What small pages cost."""
        if row.get("small_s") is None:
            return []
        return [
            f"A load from {format_size(row['chased_bytes'])} takes {format_time(row['huge_s'])} in "
            f"huge pages and {format_time(row['small_s'])} in small ones."
        ]


def _rows(run: str, ones: Sequence[Reading]) -> list[Row]:
    steps = translation_steps(ones)
    both = page_sizes(ones)
    if not steps and both is None:
        return []
    seen = tables(ones)
    rows = [{**subject_of(run), **_as_row(one)} for one in seen.reaches]
    doubts = [f"not resolved: {seen.unresolved}"] if steps and seen.unresolved else []
    if both is not None and not both.is_huge:
        doubts.append(NO_HUGE)
    rows = rows or [subject_of(run)]
    rows[-1] |= {**_as_members(both), "doubts": doubts}
    return rows


def _as_row(one: Reach) -> Row:
    reach_bytes, beyond_bytes = one.pages * one.page_bytes, one.pages_beyond * one.page_bytes
    return {
        "level": one.level,
        "pages": one.pages,
        "reach_bytes": reach_bytes,
        "beyond_bytes": beyond_bytes,
        "reach_bytes_ci": [reach_bytes, beyond_bytes],
        "miss_s": one.miss_s,
        "miss_cycles": one.miss_cycles,
    }


def _as_members(both: PageSizes | None) -> Row:
    if both is None:
        return {}
    return {"chased_bytes": both.size_bytes, "huge_s": both.huge_s, "small_s": both.small_s}
