# SPDX-License-Identifier: Apache-2.0
"""How far a start after a barrier would have misled."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from nhalf.base.units import format_size
from nhalf.facts.collectives import VARIANTS, varied
from nhalf.facts.contests import with_cores
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, times
from nhalf.statistics.intervals import ratio_interval

MISLEADS = 1.1
"""A barrier that changes a result by less is not worth a sentence."""


class BarrierStart(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        ratios = varied(with_cores(data.launches, data), data).filter(
            pl.col("variant") == VARIANTS["start=barrier"]
        )
        points = ratios.group_by("series", "mpi", "pattern", "bytes", maintain_order=True).agg(
            "ratio"
        )
        sure = []
        for row in points.to_dicts():
            interval = ratio_interval(row["ratio"])
            if len(row["ratio"]) > 1 and (interval.low > MISLEADS or interval.high < 1 / MISLEADS):
                sure.append((row, interval))
        if not sure:
            return
        row, interval = max(sure, key=lambda item: abs(math.log(item[1].median)))
        size = f" of {format_size(row['bytes'])}" if row["bytes"] else ""
        yield Finding(
            f"Timed from its exit of a barrier, as most benchmarks do, {row['pattern']}{size} on "
            f"{row['series']} would read {times(interval.median)} its real time "
            f"({between(interval)}); {len(sure)} of {points.height} points would be off by more "
            f"than {MISLEADS - 1:.0%}.",
            importance=44,
            kind="barrier-start",
            label="Barrier start misleads",
            value=interval.median,
            low=interval.low,
            high=interval.high,
            mpi=row["mpi"],
            pattern=row["pattern"],
            size_bytes=row["bytes"],
        )
