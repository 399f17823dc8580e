# SPDX-License-Identifier: Apache-2.0
"""The slowdown due to a message in the opposite direction: ping-ping against ping-pong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import CLASSES, with_cores
from nhalf.facts.difference import COSTLY
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.modes import PAIRED
from nhalf.facts.series import MAIN_PATTERN, with_series
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.statistics.summary import EXACT

PATTERN = "pingping"


@dataclass(frozen=True)
class BothWays:
    """The time of ping-ping over that of ping-pong, over the sizes of the largest class measured.

    1: the two directions are independent; 2: they share the same resource.
    """

    series: str
    mpi: str
    size_class: str
    first_bytes: int
    last_bytes: int
    ratio: Interval

    @property
    def shared(self) -> bool:
        """Whether a message in the opposite direction costs time significantly."""
        return self.ratio.low > COSTLY


@fact
def both_ways(facts: Facts) -> Iterator[BothWays]:
    """One for each library and setting for which sharing can be determined."""
    ratios = _ratios(facts)
    for (series, mpi), frame in ratios.group_by("series", "mpi", maintain_order=True):
        cost = _largest_class(str(series), str(mpi), frame)
        if cost is not None and (cost.shared or cost.ratio.high < COSTLY):
            yield cost


@fact
def _ratios(facts: Facts) -> pl.DataFrame:
    """Per launch and size: columns of a launch, `series` and `ratio`."""
    launches = with_cores(facts.launches.filter(pl.col("median_s") > 0), facts)
    alone = launches.filter(pl.col("pattern") == MAIN_PATTERN)
    paired = launches.filter(pl.col("pattern") == PATTERN).join(
        alone.select(*PAIRED, alone_s="median_s"), on=PAIRED, nulls_equal=True
    )
    return with_series(paired.with_columns(ratio=pl.col("median_s") / pl.col("alone_s")), facts)


def _largest_class(series: str, mpi: str, frame: pl.DataFrame) -> BothWays | None:
    for name, low, high in reversed(CLASSES):
        inside = frame.filter(pl.col("bytes").is_between(low, high))
        middles = inside.group_by("launch").agg(pl.col("ratio").median()).sort("launch")["ratio"]
        exact = not inside.is_empty() and inside["transport"][0] in EXACT
        if len(middles) >= (1 if exact else 2):
            sizes = sorted(inside["bytes"].to_list())
            ratio = ratio_interval(middles.to_list())
            return BothWays(series, mpi, name, sizes[0], sizes[-1], ratio)
    return None
