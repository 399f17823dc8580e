"""Nights drawn from kept runs: what comparisons on their machine find, without and with a change.

Of one run, either side of a night has launches that are drawn from all of it, with replacement
(B. Efron, Bootstrap methods, Annals of Statistics 7 (1979) 1). A launch keeps all of its curves, so
that what disturbed them together still does. Nights of one run do not differ by more than their
launches. Of several runs, the sides of a night are two of these as they are, and differ by all that
two runs differ by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.decide.compare import Sides, compare_all
from nhalf.decide.runs_compared import sides_of
from nhalf.experiment.selftest.simulated_nights import PLANTED, TOLERANCE
from nhalf.facts.facts import Facts
from nhalf.statistics.next_run import point_intervals
from nhalf.store.keys import COMPARED_CURVE, POINT

LAUNCHES_LEAST = 5
"""Fewer show too little of how launches differ."""
LAUNCHES = (12, 30)
"""Numbers of launches of further nights."""
TIE_BREAK = 1e-9
"""Launches that are drawn twice differ by this, since equal ones are taken for a clock's step."""

Night = tuple[pl.DataFrame, pl.DataFrame]
"""Both sides: a row for each launch and point, with FLAGGED_COLUMNS."""


@dataclass(frozen=True)
class NightRates:
    """What was found in `nights`; `launches` is the most that a side has of a point.

    `inside_share` is that of values that lie in the interval of the other side, None without any,
    `alarms` counts nights without a change in which a curve was called slower, `found_count` nights
    in which the curve that was made PLANTED times slower was called so, `first` those in which it
    was named first.
    """

    launches: int
    nights: int
    curves: int
    inside_share: float | None
    alarms: int
    found_count: int
    first: int


def resampled_nights(facts: Facts, nights: int, seed: int) -> list[NightRates]:
    """The rates of nights that are drawn from one run, for several numbers of launches, or of
    pairs of several runs.

    Raises InputError if one run has fewer than LAUNCHES_LEAST launches.
    """
    random = np.random.default_rng(seed)
    names = list(facts.environments)
    sides = [facts.flagged.filter(pl.col("run") == name) for name in names]
    if len(sides) > 1:
        pairs = list(permutations(range(len(sides)), 2))
        drawn = [pairs[place] for place in random.permutation(len(pairs))[:nights]]
        return [_rates(((sides[a], sides[b]) for a, b in drawn), random)]
    (side,) = sides
    own = most_launches(side)
    if own < LAUNCHES_LEAST:
        raise InputError(
            f"{names[0]} has {own} launches, which show too little of how launches differ",
            f"measure with --launches {LAUNCHES_LEAST} or more, or give several runs",
        )
    return [
        _rates(
            ((_drawn(side, number, random), _drawn(side, number, random)) for _ in range(nights)),
            random,
        )
        for number in sorted({own, *LAUNCHES})
    ]


def most_launches(side: pl.DataFrame) -> int:
    """How many launches the point with the most of them has; 0 without any."""
    counts = side.group_by(POINT).agg(launches=pl.col("launch").n_unique())["launches"]
    return int(counts.max() or 0)  # type: ignore[arg-type]


def _drawn(side: pl.DataFrame, number: int, random: np.random.Generator) -> pl.DataFrame:
    """Draw `number` launches of a run, with replacement."""
    launches = side["launch"].unique().sort()
    drawn = pl.DataFrame(
        {
            "launch": launches.gather(random.integers(len(launches), size=number)),
            "place": pl.Series(range(number), dtype=launches.dtype),
        }
    )
    factor = 1 + TIE_BREAK * pl.col("place")
    return (
        side.join(drawn, on="launch")
        .with_columns(pl.col("median_s", "lowest_s") * factor, launch="place")
        .select(side.columns)
    )


def _rates(nights: Iterator[Night], random: np.random.Generator) -> NightRates:
    inside: list[bool] = []
    alarms = found_count = first = count = launches = curves = 0
    for before, now in nights:
        count += 1
        launches = max(launches, most_launches(before), most_launches(now))
        sides, _ = sides_of(before, now)
        inside += _inside(sides)
        compared = _compared(sides)
        curves = max(curves, len(compared))
        alarms += any(worse == "worse" for _, worse in compared)
        if compared:
            planted, _ = compared[random.integers(len(compared))]
            with_change = _compared(replace(sides, b=_slower(sides.b, planted)))
            found_count += (planted, "worse") in with_change
            first += with_change[0] == (planted, "worse")
    share = float(np.mean(inside)) if inside else None
    return NightRates(launches, count, curves, share, alarms, found_count, first)


def _compared(sides: Sides) -> list[tuple[tuple[object, ...], str]]:
    """Each curve that was compared, and whether it is worse, in the order in which it is named."""
    (comparison,) = compare_all([sides], 1 + TOLERANCE)
    return [
        ((curve.mpi_b, *(curve.point[name] for name in COMPARED_CURVE)), curve.worse)
        for curve in comparison.by_evidence()
    ]


def _slower(launches: pl.DataFrame, curve: tuple[object, ...]) -> pl.DataFrame:
    """Launches of which one curve takes PLANTED times as long."""
    names = ("mpi", *COMPARED_CURVE)
    is_planted = pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(value)) for name, value in zip(names, curve, strict=True)
    )
    factor = pl.when(is_planted).then(PLANTED).otherwise(1.0)
    return launches.with_columns(pl.col("median_s", "lowest_s") * factor)


def _inside(sides: Sides) -> list[bool]:
    """Whether the interval of each point of A, from several launches, has the value of B."""
    if sides.a.is_empty() or sides.b.is_empty():
        return []
    of_now = point_intervals(sides.b).select(*POINT, now_s="value_s")
    points = point_intervals(sides.a).join(of_now, on=POINT, nulls_equal=True)
    is_inside = pl.col("now_s").is_between("low_s", "high_s")
    return points.filter(pl.col("launches") > 1).select(is_inside).to_series().to_list()
