# SPDX-License-Identifier: Apache-2.0
"""How much longer a small message takes while all pairs of ranks talk at once."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.base.units import format_size
from nhalf.facts.contests import beyond
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import LATENCY, load_ratios
from nhalf.facts.series import with_series
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import COSTLY, between, times, weight
from nhalf.statistics.intervals import Interval

SETTING = ["run", "ranks", "placement", "algorithm"]


class PairsAtOnce(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        ratios = with_series(load_ratios(data.launches), data)
        ratios = ratios.filter(
            pl.col("bytes") == pl.col("bytes").min().over(*SETTING, "series"),
            pl.col("pairs") == pl.col("pairs").max().over(*SETTING, "series"),
            pl.col("pairs") > 1,
        )
        for _, frame in ratios.group_by(SETTING, maintain_order=True):
            yield from _of(frame)


def _of(ratios: pl.DataFrame) -> Iterator[Finding]:
    """One finding for all libraries of a setting, the one that suffers most first."""
    costs: list[tuple[str, str, Interval]] = []
    for (series, mpi), frame in ratios.group_by("series", "mpi", maintain_order=True):
        interval = beyond(frame.sort("launch")["ratio"].to_list(), COSTLY)
        if interval is not None:
            costs.append((str(series), str(mpi), interval))
    if not costs:
        return
    costs.sort(key=lambda cost: -cost[2].median)
    series, mpi, worst = costs[0]
    first = ratios.row(0, named=True)
    also = ", ".join(f"{name} {times(cost.median)}" for name, _, cost in costs[1:])
    yield Finding(
        f"{first['pairs']} pairs at once: a message of {format_size(first['bytes'])} takes "
        f"{times(worst.median)} the time that it takes one pair alone on {series} "
        f"({between(worst)})" + (f"; {also}." if also else "."),
        importance=weight(worst.median, 42, 68),
        kind="pairs-at-once",
        label="Under load",
        value=worst.median,
        low=worst.low,
        high=worst.high,
        mpi=mpi,
        pattern=LATENCY,
        size_bytes=first["bytes"],
    )
