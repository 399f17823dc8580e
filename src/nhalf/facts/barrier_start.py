# SPDX-License-Identifier: Apache-2.0
"""The error in the time of an operation that starts after a barrier."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from nhalf.facts.collectives import VARIANTS, varied
from nhalf.facts.contests import with_cores
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.intervals import Interval, ratio_interval

MISLEADS = 1.1
"""A smaller effect of a barrier is not reported."""


@dataclass(frozen=True)
class Misled:
    """The point with the largest effect of a barrier, as a ratio to the synchronised start.

    `sure` of the `points` measured both ways differ by more than MISLEADS.
    """

    series: str
    mpi: str
    pattern: str
    size_bytes: int
    ratio: Interval
    sure: int
    points: int


@fact
def misled(facts: Facts) -> Misled | None:
    """The effect of a start after a barrier; None without a significant one."""
    ratios = varied(with_cores(facts.launches, facts), facts).filter(
        pl.col("variant") == VARIANTS["start=barrier"]
    )
    points = ratios.group_by("series", "mpi", "pattern", "bytes", maintain_order=True).agg("ratio")
    sure = []
    for row in points.to_dicts():
        interval = ratio_interval(row["ratio"])
        if len(row["ratio"]) > 1 and (interval.low > MISLEADS or interval.high < 1 / MISLEADS):
            sure.append((row, interval))
    if not sure:
        return None
    row, interval = max(sure, key=lambda item: abs(math.log(item[1].median)))
    about = (row["series"], row["mpi"], row["pattern"], row["bytes"])
    return Misled(*about, interval, len(sure), points.height)
