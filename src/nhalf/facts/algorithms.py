"""Algorithms of operations against the library's own choice, and when they free the root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.facts.collectives import OWN_CHOICE, usual
from nhalf.facts.contests import with_cores
from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import RUN_POINT, VARIED_POINT, without

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


ROOTED = ("bcast", "scatter")
"""Operations whose root only sends; rank 0 is the root unless operations are chained."""
ROOT_CELL = without(RUN_POINT, "algorithm")


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
    """One row per launch of a rooted operation, with `complete_s` and `root_s`, of its visits.

    Further columns are those of ROOT_CELL, algorithm and launch.
    """
    columns = [*ROOT_CELL, "algorithm", "launch"]
    points = usual(facts.measurements.filter(pl.col("pattern").is_in(ROOTED)).collect()).filter(
        pl.col("rank_s").list.len() == pl.col("ranks"), pl.col("ranks") > 1, pl.col("bytes") > 0
    )
    times = points.select(
        *columns,
        complete_s=pl.col("samples_s").list.median(),
        root_s=pl.col("rank_s").list.first(),
    ).filter(pl.col("root_s") > 0)
    return times.group_by(columns, maintain_order=True).agg(pl.all().median())


@fact
def root_medians(facts: Facts) -> pl.DataFrame:
    """Medians over launches of `root_times`, one row per ROOT_CELL and algorithm, sorted."""
    by = [*ROOT_CELL, "algorithm"]
    medians = pl.col("complete_s", "root_s").median()
    return root_times(facts).group_by(by).agg(medians, launches=pl.len()).sort(by)


@fact
def freed_first(facts: Facts) -> Iterator[Freed]:
    """Points at which an algorithm other than the fastest frees the root significantly earlier."""
    medians = root_medians(facts)
    disputed = _disputed(medians)
    # Only these: looking at every point of a long run takes as long as measuring it.
    disputed_frames = (
        frame.join(disputed, on=ROOT_CELL, how="semi", nulls_equal=True).partition_by(
            ROOT_CELL, as_dict=True
        )
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
    """Columns of ROOT_CELL, and the algorithms that complete and free the root first, if two."""
    name = pl.col("algorithm")
    return (
        medians.group_by(ROOT_CELL, maintain_order=True)
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
