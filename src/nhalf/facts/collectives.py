"""Collective operations: their variants, starts, ends and fastest libraries."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from statistics import median

import polars as pl

from nhalf.base.operations import COLLECTIVES, NATIVE, OVERLAPPING
from nhalf.facts.contests import CLASSES, Contest, Standing, contests, with_cores
from nhalf.facts.difference import RelativeCost, apart, over_standard
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import VARIED_POINT, value

OWN_CHOICE = pl.col("algorithm").is_in([NATIVE, ""])
"""Points with the library's own choice of algorithm."""

VARIANTS = {
    "start=barrier": "started after a barrier",
    "start=rotating": "chained by rotating roots",
    "buffers=cold": "buffers not in cache",
    "call=first": "first call on a communicator",
    "place=in": "in place",
}
"""The words for an axis that differs from the standard: started together, warm, steady, out of
place."""


def standard(points: pl.DataFrame) -> pl.DataFrame:
    """The standard points of blocking operations: no axis differs from its default.

    The algorithm is the library's own choice.
    """
    return usual(points).filter(OWN_CHOICE)


def usual(points: pl.DataFrame) -> pl.DataFrame:
    """Keep the points under standard conditions, with every measured algorithm."""
    return points.filter(pl.col("pattern").is_in(COLLECTIVES) & (pl.col("axes") == ""))


def varied(frame: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """Launches of blocking operations that differ from the standard in one axis.

    `frame` has the columns of a point, launch and `median_s`. Adds `variant`, `series`,
    `standard_s` and `ratio` = median_s / standard_s, paired by launch.
    """
    operations = frame.filter(pl.col("pattern").is_in(COLLECTIVES) & (pl.col("median_s") > 0))
    variants = operations.filter(pl.col("axes").is_in(list(VARIANTS)))
    compared = over_standard(variants, operations.filter(pl.col("axes") == ""))
    variant = pl.col("axes").replace_strict(VARIANTS, return_dtype=pl.String)
    return with_series(compared.with_columns(variant=variant, axes=pl.lit("")), facts)


@fact
def by_ranks(facts: Facts) -> pl.DataFrame:
    """The points, with `series`, of operations measured on several numbers of ranks."""
    points = with_series(standard(facts.sound), facts, on_axis=["ranks"])
    return points.filter(pl.col("ranks").n_unique().over("series", "pattern", "bytes") > 1)


@fact
def algorithms(facts: Facts) -> pl.DataFrame:
    """The points, with `series`, of operations with a chosen algorithm, without barriers.

    `kind` is the algorithm, '' for the library's own choice.
    """
    points = usual(facts.sound)
    chosen = (~OWN_CHOICE).any().over("pattern")
    subjects = points.filter(chosen, pl.col("pattern") != "barrier").with_columns(
        kind=pl.when(OWN_CHOICE).then(pl.lit("")).otherwise("algorithm"), algorithm=pl.lit(NATIVE)
    )
    return with_series(subjects, facts)


@fact
def started_both_ways(facts: Facts) -> pl.DataFrame:
    """One row per point measured both ways, the most misleading first.

    Columns of `Facts.sound` for the synchronised start, with `clock_uncertainty_s`; for the barrier
    start `barrier_s` (its time), `true_s` (its first start to last end) and `ratio`, its time over
    that of the synchronised start.
    """
    points = facts.sound.filter(pl.col("pattern").is_in(COLLECTIVES))
    together = points.filter(pl.col("axes") == "").with_columns(value("clock_uncertainty_s"))
    barrier = points.filter(pl.col("axes") == "start=barrier").with_columns(value("true_s"))
    paired = together.join(
        barrier.select(*VARIED_POINT, "true_s", barrier_s="median_s"),
        on=VARIED_POINT,
        nulls_equal=True,
    )
    return paired.with_columns(ratio=pl.col("barrier_s") / pl.col("median_s")).sort(
        pl.col("ratio").log().abs(), descending=True
    )


MISLEADS = 1.1
"""A smaller effect of a barrier is not reported."""


@dataclass(frozen=True)
class Misled(RelativeCost):
    """The point with the largest effect of a barrier, as a ratio to the synchronised start.

    `sure` of the `points` measured both ways differ by more than MISLEADS.
    """

    sure: int
    points: int


@fact
def misled(facts: Facts) -> Misled | None:
    """The effect of a start after a barrier; None without a significant one."""
    ratios = varied(with_cores(facts.launches, facts), facts).filter(
        pl.col("variant") == VARIANTS["start=barrier"]
    )
    points = ratios.group_by("series", "mpi", "pattern", "bytes", maintain_order=True).agg("ratio")
    intervals = ((row, apart(row["ratio"], MISLEADS)) for row in points.to_dicts())
    sure = [(row, interval) for row, interval in intervals if interval]
    if not sure:
        return None
    row, interval = max(sure, key=lambda item: abs(math.log(item[1].median)))
    about = (row["series"], row["mpi"], row["pattern"], row["bytes"])
    return Misled(*about, interval, len(sure), points.height)


@fact
def finishing(facts: Facts) -> pl.DataFrame:
    """Blocking operations with times for each rank.

    Columns of `Facts.sound`, `series` and `shares`: each rank's time over that of the operation.
    """
    points = standard(facts.sound).filter(pl.col("rank_s").list.len() > 1)
    shares = pl.col("rank_s") / pl.col("median_s")
    return with_series(points.with_columns(shares=shares), facts)


@fact
def barriers(facts: Facts) -> pl.DataFrame:
    """Barriers under usual conditions, by pattern, ranks and time.

    Columns of `Facts.sound`, `first_s` and `last_s`: the ranks that leave earliest and latest.
    """
    points = facts.sound.filter(
        pl.col("pattern").is_in(["barrier", "ibarrier"]) & (pl.col("axes") == "")
    )
    return points.with_columns(
        first_s=pl.col("rank_s").list.min().fill_null(pl.col("median_s")),
        last_s=pl.col("rank_s").list.max().fill_null(pl.col("median_s")),
    ).sort("pattern", "ranks", "median_s")


@fact
def overlaps(facts: Facts) -> pl.DataFrame:
    """One row per point whose computation takes as long as the operation alone.

    Columns of `Facts.sound`, `series`, `overlap` (the share of the operation that is hidden, 0 to
    1) and `pure_s`, the operation alone, null if unknown.
    """
    points = facts.sound.filter(pl.col("pattern").is_in(OVERLAPPING), pl.col("axes") == "work=1")
    points = points.with_columns(value("overlap"), value("pure_s")).drop_nulls("overlap")
    return with_series(points.with_columns(axes=pl.lit("")), facts)


@dataclass(frozen=True)
class Match:
    """The fastest and the slowest library, by title, of one operation in one setting.

    `where` tells the setting from the operation's others ('8 ranks'). `mpi` is the name of the
    fastest, `behind` the slowest one's time over its, as the median over the sizes measured from
    `first_bytes` to `last_bytes`. `smallest_ratio` and `largest_ratio` are the sizes at which it is
    smallest and largest, each with the ratio.
    """

    pattern: str
    where: str
    best: str
    worst: str
    mpi: str
    behind: Interval
    first_bytes: int
    last_bytes: int
    smallest_ratio: tuple[int, float]
    largest_ratio: tuple[int, float]


@dataclass(frozen=True)
class ClassStanding:
    """How libraries stand in one operation on some ranks of a run, over the sizes of one class."""

    run: str
    pattern: str
    ranks: int
    placement: str
    size_class: str
    sizes_bytes: tuple[int, ...]
    standing: Standing

    @property
    def fastest(self) -> tuple[str, ...]:
        """The fastest library, then those that are as fast."""
        return (self.standing.best, *self.standing.level)

    @property
    def lead(self) -> Interval | None:
        """The next library's time over that of the fastest ones; None where all are as fast."""
        return self.standing.behind[0][1] if self.standing.behind else None


@fact
def standings(facts: Facts) -> list[ClassStanding]:
    """Every operation on some ranks in a size class, where libraries can be compared."""
    return [
        ClassStanding(
            str(contest.setting["run"]),
            pattern,
            int(contest.setting["ranks"]),
            str(contest.setting["placement"]),
            name,
            tuple(sizes),
            contest.standing(sizes),
        )
        for pattern in COLLECTIVES
        for contest in filter(_is_standard, contests(facts, pattern))
        for name, low, high in CLASSES
        if (sizes := contest.sizes(low, high))
    ]


def _is_standard(contest: Contest) -> bool:
    """Whether libraries chose their own algorithms, under standard conditions."""
    return contest.setting["algorithm"] in (NATIVE, "") and not contest.setting["axes"]


@fact
def matches(facts: Facts, low: int, high: int) -> Iterator[Match]:
    """Every operation in which libraries differ at sizes from `low` to `high` bytes."""
    for pattern in COLLECTIVES:
        for contest in contests(facts, pattern):
            sizes = contest.sizes(low, high)
            if not (_is_standard(contest) and sizes):
                continue
            best, *_, worst = contest.ranking(sizes)
            interval = contest.behind(worst, best, sizes)
            if interval is not None:
                ends = (sizes[0], sizes[-1])
                ratios = {size: median(contest.ratios(worst, best, [size])) for size in sizes}
                extremes = (pick(ratios.items(), key=itemgetter(1)) for pick in (min, max))
                first, last = (facts.titles.get(name, name) for name in (best, worst))
                names = (contest.where, first, last, best)
                yield Match(pattern, *names, interval, *ends, *extremes)
