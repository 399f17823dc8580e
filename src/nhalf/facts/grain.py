"""Work between barriers: the grain at which a barrier matters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from nhalf.base.operations import NATIVE
from nhalf.facts.contests import with_cores
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, launch_interval
from nhalf.store.axes import axis
from nhalf.store.keys import VARIED_POINT

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
