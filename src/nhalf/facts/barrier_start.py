# SPDX-License-Identifier: Apache-2.0
"""How far the time of an operation that starts after a barrier is from its real time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from nhalf.facts.collectives import VARIANTS, varied
from nhalf.facts.contests import with_cores
from nhalf.facts.facts import Facts
from nhalf.statistics.intervals import Interval, ratio_interval

MISLEADS = 1.1
"""A barrier that changes a result by less is not worth a sentence."""


@dataclass(frozen=True)
class Misled:
    """The point that a barrier changes most, as a ratio to the time of those that start together.

    `sure` of `points` that were measured both ways are changed by more than MISLEADS.
    """

    series: str
    mpi: str
    pattern: str
    size_bytes: int
    ratio: Interval
    sure: int
    points: int


def misled(facts: Facts) -> Misled | None:
    """What a start after a barrier does; None where it changes nothing beyond doubt."""
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
