# SPDX-License-Identifier: Apache-2.0
"""Points at which an algorithm on a library's messages beats the library's own collective."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.collectives import OWN_CHOICE, usual
from nhalf.facts.contests import with_cores
from nhalf.facts.difference import beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import VARIED_POINT, without

FASTER = 1.1
"""The best of many algorithms is slightly faster by chance: a smaller gain is not reported."""
CELL = without(VARIED_POINT, "algorithm")


@dataclass(frozen=True)
class Win:
    """One point at which an algorithm beats the library's own: own time over the algorithm's.

    `row` has the columns of the point.
    """

    row: Row
    behind: Interval


@dataclass(frozen=True)
class Beaten:
    """A library that chooses badly at some of its points."""

    title: str
    wins: tuple[Win, ...]
    points: int

    @property
    def worst(self) -> Win:
        """The point with the largest loss."""
        return max(self.wins, key=lambda win: win.behind.median)


@fact
def beaten(facts: Facts) -> Iterator[Beaten]:
    """Every library that some algorithm beats significantly."""
    launches = with_cores(usual(facts.launches).filter(pl.col("median_s") > 0), facts)
    own = launches.filter(OWN_CHOICE)
    alternatives = launches.filter(~OWN_CHOICE)
    paired = alternatives.join(
        own.select(*CELL, "launch", own_s="median_s"), on=[*CELL, "launch"], nulls_equal=True
    ).with_columns(ratio=pl.col("own_s") / pl.col("median_s"))
    for (run, mpi), frame in paired.group_by("run", "mpi", maintain_order=True):
        wins = tuple(_wins(frame))
        if wins:
            title = _title(facts, str(run), str(mpi), wins[0])
            yield Beaten(title, wins, frame.select(CELL).n_unique())


def _wins(paired: pl.DataFrame) -> Iterator[Win]:
    """Every point at which the algorithm with the best median beats the library significantly."""
    ratios = paired.group_by([*CELL, "algorithm"], maintain_order=True).agg("ratio")
    best = ratios.sort(pl.col("ratio").list.median(), descending=True, maintain_order=True)
    for row in best.group_by(CELL, maintain_order=True).first().to_dicts():
        interval = beyond(row["ratio"], FASTER)
        if interval is not None:
            yield Win(row, interval)


def _title(facts: Facts, run: str, mpi: str, win: Win) -> str:
    """The library's name, with that of the run if there are several."""
    label = library_label(facts, win.row["transport"], mpi)
    return f"{label} [{run}]" if facts.summary["run"].n_unique() > 1 else label
