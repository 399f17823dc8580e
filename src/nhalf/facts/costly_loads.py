# SPDX-License-Identifier: Apache-2.0
"""Libraries on which small messages take significantly longer while all pairs communicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import load_ratios
from nhalf.statistics.intervals import Interval

SETTING = ("run", "ranks", "placement", "algorithm")


@dataclass(frozen=True)
class LoadCost:
    """The cost of the most pairs at once: the smallest message's time over one pair's."""

    series: str
    mpi: str
    pairs: int
    size_bytes: int
    ratio: Interval


@fact
def costly_loads(facts: Facts) -> Iterator[list[LoadCost]]:
    """The affected libraries by setting, the worst first."""
    ratios = load_ratios(facts).filter(
        pl.col("bytes") == pl.col("bytes").min().over(*SETTING, "series"),
        pl.col("pairs") == pl.col("pairs").max().over(*SETTING, "series"),
        pl.col("pairs") > 1,
    )
    for _, frame in ratios.group_by(SETTING, maintain_order=True):
        pairs, size = frame.row(0, named=True)["pairs"], frame.row(0, named=True)["bytes"]
        costs = [
            LoadCost(str(series), str(mpi), pairs, size, interval)
            for (series, mpi), launches in frame.group_by("series", "mpi", maintain_order=True)
            if (interval := beyond(launches.sort("launch")["ratio"].to_list(), COSTLY)) is not None
        ]
        if costs:
            yield sorted(costs, key=lambda cost: -cost.ratio.median)
