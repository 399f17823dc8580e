# SPDX-License-Identifier: Apache-2.0
"""Send modes that cost significantly more than the standard send, and the worst libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import CLASSES
from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.modes import mode_ratios
from nhalf.statistics.intervals import Interval


@dataclass(frozen=True)
class ModeCost:
    """The cost of a mode: its time over the standard send's, in the worst size class."""

    series: str
    mpi: str
    size_class: str
    ratio: Interval


@fact
def costly_modes(facts: Facts) -> Iterator[tuple[str, list[ModeCost]]]:
    """Each mode's pattern that costs some libraries time, with those, the worst first."""
    for (pattern,), frame in mode_ratios(facts).group_by("pattern", maintain_order=True):
        costs: list[ModeCost] = []
        for (series, mpi), of_series in frame.group_by("series", "mpi", maintain_order=True):
            worst = _worst_class(of_series)
            if worst is not None:
                costs.append(ModeCost(str(series), str(mpi), *worst))
        if costs:
            yield str(pattern), sorted(costs, key=lambda cost: -cost.ratio.median)


def _worst_class(frame: pl.DataFrame) -> tuple[str, Interval] | None:
    """The size class in which a mode costs most, if significant."""
    costs: list[tuple[str, Interval]] = []
    for name, low, high in CLASSES:
        middles = (
            frame.filter(pl.col("bytes").is_between(low, high))
            .group_by("launch")
            .agg(pl.col("ratio").median())
        )
        interval = beyond(middles["ratio"].to_list(), COSTLY)
        if interval is not None:
            costs.append((name, interval))
    return max(costs, key=lambda item: item[1].median) if costs else None
