# SPDX-License-Identifier: Apache-2.0
"""Where an algorithm on a library's own messages is faster than what the library does itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.units import format_size
from nhalf.facts.collectives import OWN_CHOICE, usual
from nhalf.facts.contests import beyond, with_cores
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.charts import common
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, times, weight
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import VARIED_POINT, without

FASTER = 1.1
"""The best of many algorithms is a little faster by chance: less is not worth a sentence."""
CELL = without(VARIED_POINT, "algorithm")


@dataclass(frozen=True)
class _Win:
    """One point at which an algorithm beats the library's own, by time of the own over its."""

    row: common.Row
    behind: Interval


class FastestAlgorithm(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        launches = with_cores(usual(data.launches).filter(pl.col("median_s") > 0), data)
        own = launches.filter(OWN_CHOICE)
        others = launches.filter(~OWN_CHOICE)
        paired = others.join(
            own.select(*CELL, "launch", own_s="median_s"), on=[*CELL, "launch"], nulls_equal=True
        ).with_columns(ratio=pl.col("own_s") / pl.col("median_s"))
        for (run, mpi), frame in paired.group_by("run", "mpi", maintain_order=True):
            wins = list(_wins(frame))
            if wins:
                cells = frame.select(CELL).n_unique()
                yield _finding(wins, cells, _title(data, str(run), str(mpi), wins[0]))


def _wins(paired: pl.DataFrame) -> Iterator[_Win]:
    """Every point at which the algorithm with the best middle beats the library beyond doubt."""
    ratios = paired.group_by([*CELL, "algorithm"], maintain_order=True).agg("ratio")
    best = ratios.sort(pl.col("ratio").list.median(), descending=True, maintain_order=True)
    for row in best.group_by(CELL, maintain_order=True).first().to_dicts():
        interval = beyond(row["ratio"], FASTER)
        if interval is not None:
            yield _Win(row, interval)


def _title(data: Facts, run: str, mpi: str, win: _Win) -> str:
    """The library's name, with that of the run where there are several."""
    label = library_label(data, win.row["transport"], mpi)
    return f"{label} [{run}]" if data.summary["run"].n_unique() > 1 else label


def _finding(wins: list[_Win], cells: int, title: str) -> Finding:
    """One sentence for a library."""
    largest = max(wins, key=lambda win: win.behind.median)
    row, behind = largest.row, largest.behind
    size = f" of {format_size(row['bytes'])}" if row["bytes"] else ""
    return Finding(
        f"{title} is slower than an algorithm on its own messages at {len(wins)} of "
        f"{count(cells, 'point')}. Most so in {row['pattern']}{size} on {row['ranks']} ranks: it "
        f"takes {times(behind.median)} as long as {row['algorithm']} ({between(behind)}).",
        importance=weight(behind.median, 46, 70),
        kind="algorithm",
        label="Faster algorithm",
        value=behind.median,
        low=behind.low,
        high=behind.high,
        mpi=row["mpi"],
        pattern=row["pattern"],
        size_bytes=row["bytes"],
    )
