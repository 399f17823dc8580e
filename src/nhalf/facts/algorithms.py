"""Algorithms of operations against the library's own choice, their parts, and barriers between."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from nhalf.base.operations import NATIVE
from nhalf.base.rows import Row
from nhalf.facts.collectives import OWN_CHOICE, usual
from nhalf.facts.contests import with_cores
from nhalf.facts.difference import COSTLY, RelativeCost, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label, with_series
from nhalf.models.expression import PART_BYTES
from nhalf.statistics.intervals import Interval, launch_interval
from nhalf.store.keys import RUN_POINT, VARIED_POINT, axis, without

PATTERN = "work-barrier"
MATTERS = 0.1
"""A barrier matters if it takes at least this share of the time."""
STEPS = 20
"""Maximum ratio of the iteration to the grain; barriers hardly depend on the work."""


@dataclass(frozen=True)
class WorkGrain:
    """The work between barriers, in seconds, below which barriers take more than MATTERS.

    `faster` is the same for the algorithm with the least such work, if significantly less.
    """

    series: str
    mpi: str
    ranks: int
    grain_s: Interval
    algorithm: str = ""
    faster_s: Interval | None = None


def loops(facts: Facts, of: pl.DataFrame) -> pl.DataFrame:
    """The rows of `of` that are loops of work and a barrier, with the barrier's overhead.

    Adds `grain_s`, `share` (of the time that is no work, at least 0), `kind` (the algorithm) and
    `series`; sorted by grain.
    """
    points = of.filter((pl.col("pattern") == PATTERN) & (pl.col("median_s") > 0))
    grain_s = axis("grain").cast(pl.Float64).fill_null(0.0) * 1e-9
    kind = pl.col("algorithm").replace({"": NATIVE})
    timed = points.with_columns(grain_s=grain_s, kind=kind).with_columns(
        share=(1 - pl.col("grain_s") / pl.col("median_s")).clip(0.0, 1.0), algorithm=pl.lit("")
    )
    return with_series(timed.sort("grain_s"), facts)


@fact
def crossings(facts: Facts) -> Iterator[WorkGrain]:
    """By library and number of ranks, with its own barrier and the one with the smallest grain."""
    launches = loops(facts, with_cores(facts.launches, facts)).filter(pl.col("grain_s") > 0)
    by = ["series", "mpi", "ranks"]
    for (series, mpi, ranks), frame in launches.group_by(by, maintain_order=True):
        grain_by_kind = {str(kind): _interval(rows) for (kind,), rows in frame.group_by("kind")}
        own = grain_by_kind.pop(NATIVE, None)
        if own is None:
            continue
        intervals = grain_by_kind.items()
        quicker = {kind: grain for kind, grain in intervals if grain and grain.high < own.low}
        best = min(quicker, key=lambda kind: quicker[kind].median, default="")
        least = quicker.get(best)
        yield WorkGrain(str(series), str(mpi), int(str(ranks)), own, best, least)


def _interval(rows: pl.DataFrame) -> Interval | None:
    """The grain at which the share of barriers crosses MATTERS, over launches; None if most do not.

    A launch that was cut short, or disturbed at some grain, may have no crossing.
    """
    keys = [name for name in VARIED_POINT if name != "algorithm"]
    crossings_s = [
        _crossing_s(launch["grain_s"].to_list(), launch["median_s"].to_list())
        for _, launch in rows.group_by([*keys, "launch"], maintain_order=True)
    ]
    crossed_s = [grain_s for grain_s in crossings_s if grain_s is not None]
    is_usual = len(crossed_s) > max(1, len(crossings_s) // 2)
    return launch_interval(crossed_s) if is_usual else None


def _crossing_s(grains_s: Sequence[float], times_s: Sequence[float]) -> float | None:
    """The last grain at which the overhead is MATTERS of the time; None if there is none.

    Between two grains, the overhead is interpolated linearly in the logarithm of the work.
    """
    added_s = [time_s - grain_s for grain_s, time_s in zip(grains_s, times_s, strict=True)]
    many = (1 - MATTERS) / MATTERS
    for first, last in reversed(list(pairwise(zip(grains_s, added_s, strict=True)))):
        if first[0] <= many * first[1] and many * last[1] < last[0]:
            grain_s = first[0]
            for _ in range(STEPS):
                part = math.log(grain_s / first[0]) / math.log(last[0] / first[0])
                here_s = first[1] + part * (last[1] - first[1])
                grain_s = min(max(many * here_s, first[0]), last[0])
            return grain_s
    return None


PART = "part"
FASTER = 1.1
"""The best of several sizes is slightly faster by chance: a smaller gain is not reported."""


@fact
def part_medians(facts: Facts) -> pl.DataFrame:
    """One row per point and `part_bytes`, with `median_s` over launches, sorted.

    Only points that were measured with several sizes of parts.
    """
    launches = _launches(facts)
    medians = launches.group_by(*VARIED_POINT, "part_bytes").agg(pl.col("median_s").median())
    several = pl.len().over(VARIED_POINT) > 1
    return medians.filter(several).sort(*VARIED_POINT, "part_bytes")


@fact
def best_parts(facts: Facts) -> pl.DataFrame:
    """The row of `part_medians` with the shortest time for each point.

    `usual_s` is the time in parts of the usual size, null if that was not measured.
    """
    by_time = part_medians(facts).sort("median_s", maintain_order=True)
    usual_s = pl.col("median_s").filter(pl.col("part_bytes") == PART_BYTES).first()
    return by_time.group_by(VARIED_POINT, maintain_order=True).agg(
        pl.col("part_bytes", "median_s").first(), usual_s=usual_s
    )


@fact
def gains_by_part(facts: Facts) -> pl.DataFrame:
    """Rows of `best_parts` that are significantly faster than the usual parts, with `gain`.

    `gain` is the interval of the usual time over that of the best parts, paired by launch.
    """
    launches = _launches(facts)
    usual = launches.filter(pl.col("part_bytes") == PART_BYTES).select(
        *VARIED_POINT, "launch", of_usual_s="median_s"
    )
    best = best_parts(facts)
    keys = [*VARIED_POINT, "part_bytes"]
    paired = launches.join(best.select(keys), on=keys, nulls_equal=True).join(
        usual, on=[*VARIED_POINT, "launch"], nulls_equal=True
    )
    ratios = paired.group_by(keys, maintain_order=True).agg(
        ratios=pl.col("of_usual_s") / pl.col("median_s")
    )
    rows = best.join(ratios, on=keys, nulls_equal=True)
    intervals: list[Interval | None] = [beyond(values, FASTER) for values in rows["ratios"]]
    gains = rows.with_columns(pl.Series("gain", intervals, dtype=pl.Object))
    return gains.filter(
        pl.Series([interval is not None for interval in intervals], dtype=pl.Boolean)
    )


@fact
def _launches(facts: Facts) -> pl.DataFrame:
    """Launches of algorithms whose only further axis is the size of a part, as `part_bytes`."""
    only_part = pl.col("axes").str.contains(rf"^({PART}=\d+)?$")
    timed = facts.launches.filter(only_part & (pl.col("median_s") > 0))
    in_parts = timed.with_columns(part_bytes=axis(PART).cast(pl.Int64).fill_null(PART_BYTES))
    return with_cores(in_parts, facts)


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
    several = facts.summary["run"].n_unique() > 1
    for (run, mpi), frame in paired.group_by("run", "mpi", maintain_order=True):
        wins = tuple(_wins(frame))
        if wins:
            label = library_label(facts, wins[0].row["transport"], str(mpi))
            title = f"{label} [{run}]" if several else label
            yield Beaten(title, wins, frame.select(CELL).n_unique())


def _wins(paired: pl.DataFrame) -> Iterator[Win]:
    """Every point at which the algorithm with the best median beats the library significantly."""
    ratios = paired.group_by([*CELL, "algorithm"], maintain_order=True).agg("ratio")
    best = ratios.sort(pl.col("ratio").list.median(), descending=True, maintain_order=True)
    for row in best.group_by(CELL, maintain_order=True).first().to_dicts():
        interval = beyond(row["ratio"], FASTER)
        if interval is not None:
            yield Win(row, interval)


ROOTED = ("bcast", "scatter")
"""Operations whose root only sends; rank 0 is the root unless operations are chained."""
ROOT_CELL = without(RUN_POINT, "algorithm")


@dataclass(frozen=True)
class Freed(RelativeCost):
    """The algorithm that completes first, and the one that frees the root first, at one point.

    Seconds are medians over launches; `ratio` is the root's time by the former over the latter.
    """

    ranks: int
    completes: str
    frees: str
    complete_s: float
    completes_root_s: float
    frees_root_s: float
    frees_complete_s: float


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
        *columns, complete_s=pl.col("samples_s").list.median(), root_s=pl.col("rank_s").list.first()
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
            library = library_label(facts, fastest["transport"], fastest["mpi"])
            about = (library, fastest["mpi"], fastest["pattern"], fastest["bytes"], ratio)
            names = (algorithm_name(fastest["algorithm"]), algorithm_name(frees["algorithm"]))
            times_s = (fastest["complete_s"], fastest["root_s"])
            others_s = (frees["root_s"], frees["complete_s"])
            yield Freed(*about, fastest["ranks"], *names, *times_s, *others_s)


def _disputed(medians: pl.DataFrame) -> pl.DataFrame:
    """Columns of ROOT_CELL, and the algorithms that complete and free the root first, if two."""
    name = pl.col("algorithm")
    completes = name.sort_by("complete_s", maintain_order=True).first()
    return (
        medians.group_by(ROOT_CELL, maintain_order=True)
        .agg(completes=completes, frees=name.sort_by("root_s", maintain_order=True).first())
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
