# SPDX-License-Identifier: Apache-2.0
"""The point that takes longest, of every library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.results import Column, Result
from nhalf.store.keys import RUN_SUBJECT


class SlowestPoint(Result):
    title: ClassVar[str] = "slowest point"
    patterns: ClassVar[frozenset[str]] = frozenset({"pingpong", "ask-twice"})
    columns: ClassVar[Sequence[Column]] = (
        Column("bytes", "size", format_size),
        Column("median_s", "time", format_time),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        slowest = summary.sort("median_s", descending=True).unique(
            RUN_SUBJECT, keep="first", maintain_order=True
        )
        return slowest.select(*RUN_SUBJECT, "bytes", "median_s").sort(RUN_SUBJECT).to_dicts()
