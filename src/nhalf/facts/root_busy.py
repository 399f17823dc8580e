# SPDX-License-Identifier: Apache-2.0
"""How long the root of an operation is busy: it may continue before the last rank is done.

The algorithm that completes first need not be the one that frees the root first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.operations import NATIVE
from nhalf.facts.collectives import usual
from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import RUN_POINT, without

ROOTED = ("bcast", "scatter")
"""Operations whose root only sends; rank 0 is the root unless operations are chained."""
CELL = without(RUN_POINT, "algorithm")


@dataclass(frozen=True)
class Freed:
    """The algorithm that completes first, and the one that frees the root first, at one point.

    Seconds are medians over launches; `ratio` is the root's time by the former over the latter.
    """

    library: str
    mpi: str
    pattern: str
    ranks: int
    size_bytes: int
    completes: str
    frees: str
    complete_s: float
    completes_root_s: float
    frees_root_s: float
    frees_complete_s: float
    ratio: Interval


@fact
def root_times(facts: Facts) -> pl.DataFrame:
    """One row per launch of a rooted operation: CELL, algorithm, launch, `complete_s`, `root_s`."""
    columns = [*CELL, "algorithm", "launch"]
    points = usual(facts.measurements.filter(pl.col("pattern").is_in(ROOTED)).collect()).filter(
        pl.col("rank_s").list.len() == pl.col("ranks"), pl.col("ranks") > 1, pl.col("bytes") > 0
    )
    return points.select(
        *columns,
        complete_s=pl.col("samples_s").list.median(),
        root_s=pl.col("rank_s").list.first(),
    ).filter(pl.col("root_s") > 0)


@fact
def root_medians(facts: Facts) -> pl.DataFrame:
    """Medians over launches of `root_times`, one row per CELL and algorithm, sorted."""
    by = [*CELL, "algorithm"]
    medians = pl.col("complete_s", "root_s").median()
    return root_times(facts).group_by(by).agg(medians, launches=pl.len()).sort(by)


@fact
def freed_first(facts: Facts) -> Iterator[Freed]:
    """Points at which an algorithm other than the fastest frees the root significantly earlier."""
    medians = root_medians(facts)
    disputed = _disputed(medians)
    # Only these: looking at every point of a long run takes as long as measuring it.
    disputed_frames = (
        frame.join(disputed, on=CELL, how="semi", nulls_equal=True).partition_by(CELL, as_dict=True)
        for frame in (medians, root_times(facts))
    )
    medians_of, launches_of = disputed_frames
    for *cell, completes, frees_name in disputed.iter_rows():
        cell_launches = launches_of[tuple(cell)]
        rows = {row["algorithm"]: row for row in medians_of[tuple(cell)].iter_rows(named=True)}
        fastest, frees = rows[completes], rows[frees_name]
        ratio = beyond(_ratios(cell_launches, fastest["algorithm"], frees["algorithm"]), COSTLY)
        if ratio is not None:
            yield Freed(
                library=library_label(facts, fastest["transport"], fastest["mpi"]),
                mpi=fastest["mpi"],
                pattern=fastest["pattern"],
                ranks=fastest["ranks"],
                size_bytes=fastest["bytes"],
                completes=algorithm_name(fastest["algorithm"]),
                frees=algorithm_name(frees["algorithm"]),
                complete_s=fastest["complete_s"],
                completes_root_s=fastest["root_s"],
                frees_root_s=frees["root_s"],
                frees_complete_s=frees["complete_s"],
                ratio=ratio,
            )


def _disputed(medians: pl.DataFrame) -> pl.DataFrame:
    """CELL, and the algorithms that complete first and free the root first, where they differ."""
    name = pl.col("algorithm")
    return (
        medians.group_by(CELL, maintain_order=True)
        .agg(
            completes=name.sort_by("complete_s", maintain_order=True).first(),
            frees=name.sort_by("root_s", maintain_order=True).first(),
        )
        .filter(pl.col("completes") != pl.col("frees"))
    )


def _ratios(launches: pl.DataFrame, slow: str, fast: str) -> list[float]:
    """Per launch, the root's time by one algorithm over that by another."""
    slow_times = launches.filter(algorithm=slow)
    fast_times = launches.filter(algorithm=fast).select("launch", other_s="root_s")
    paired = slow_times.join(fast_times, on="launch").sort("launch")
    return (paired["root_s"] / paired["other_s"]).to_list()


def algorithm_name(name: str) -> str:
    """'the library's own' or the name of an algorithm."""
    return "the library's own algorithm" if name in (NATIVE, "") else name
