"""Nights that are simulated, or resampled from measured ones: how often a check is wrong.

A night is put together from simulated runs of one curve, each curve from other ones, and compared
with another night as `nhalf check --against` does. Runs are those of the model machine
(simulated_runs.py), or drawn here: their launches differ, and what they share differs, too. Nights
that share runs err together: only 2 CURVES as many runs as nights show the rate of as many nights.

Of one run, either side of a night has launches that are drawn from all of it, with replacement
(B. Efron, Bootstrap methods, Annals of Statistics 7 (1979) 1). A launch keeps all of its curves, so
that what disturbed them together still does. Nights of one run do not differ by more than their
launches. Of several runs, the sides of a night are two of these as they are, and differ by all that
two runs differ by.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.decide.changes import Comparison
from nhalf.decide.compare import Sides, compare_all
from nhalf.decide.runs_compared import sides_of
from nhalf.facts.facts import Facts
from nhalf.statistics.next_run import BETWEEN_RUNS, next_run_intervals, point_intervals
from nhalf.store.keys import COMPARED_CURVE, LAUNCH_COLUMNS, POINT, conformed

CURVES = 8
"""The default study has seven for each library."""
TOLERANCE = 0.10
"""The default of `nhalf check --against`."""
PLANTED = 1.25
NIGHT_SIZES = (0, 8, 64, 512, 4096, 32768, 262144, 2097152)
SIZE_NOISE = 0.02
"""By how much launches differ at one size alone."""
HUNG = 7.0
"""How many times as long a launch takes that something kept waiting."""


def runs_that_differ(
    launch_noise: float,
    launches: int,
    runs: int,
    seed: int,
    *,
    between_runs: float = BETWEEN_RUNS,
    hung_share: float = 0.0,
) -> list[pl.DataFrame]:
    """Runs of a curve (LAUNCH_COLUMNS) whose launches differ by `launch_noise`, all sizes alike.

    Runs differ by the share `between_runs` of that variance beyond their launches; of these the
    share `hung_share` takes HUNG times as long.
    """
    random = np.random.default_rng(seed)
    frames = []
    for _ in range(runs):
        shift = random.normal(0, math.sqrt(between_runs) * launch_noise)
        level = shift + random.normal(0, launch_noise, (launches, 1))
        if hung_share:
            level[random.random(launches) < hung_share] += math.log(HUNG)
        own = random.normal(0, SIZE_NOISE, (launches, len(NIGHT_SIZES)))
        times_s = (1e-6 + np.array(NIGHT_SIZES) * 1e-10) * np.exp(level + own)
        place, size = np.indices(times_s.shape)
        columns = {"launch": place.ravel(), "bytes": np.array(NIGHT_SIZES)[size.ravel()]}
        frame = pl.DataFrame({**columns, "median_s": times_s.ravel()}).with_columns(
            *(pl.lit("").alias(name) for name in ("run", "mpi", "algorithm", "placement", "axes")),
            *(pl.lit(2).alias(name) for name in ("ranks", "samples")),
            transport=pl.lit("model"),
            pattern=pl.lit("pingpong"),
            lowest_s="median_s",
        )
        frames.append(conformed(frame, LAUNCH_COLUMNS))
    return frames


def share_covered(runs: Sequence[pl.DataFrame], launches: int) -> float:
    """The share of points whose interval, from the first launches, holds the next run's value."""
    curve = np.zeros(len(NIGHT_SIZES), dtype=np.int64)
    intervals = [
        next_run_intervals(
            run.filter(pl.col("launch") < launches)
            .sort("bytes", "launch")["median_s"]
            .to_numpy()
            .reshape(len(NIGHT_SIZES), -1),
            curve,
        )
        for run in runs
    ]
    inside = [
        (low <= following) & (following <= high)
        for (_, low, high), (following, _, _) in zip(
            intervals, [*intervals[1:], intervals[0]], strict=True
        )
    ]
    return float(np.mean(inside))


def share_with_alarm(
    runs: Sequence[pl.DataFrame], nights: int, launches: int, seed: int = 1
) -> float:
    """The share of nights without any change in which some curve is called slower."""
    random = np.random.default_rng(seed)
    return float(np.mean([compared(runs, launches, random, 1.0).regressed for _ in range(nights)]))


def share_with_alarm_at_looks(
    runs: Sequence[pl.DataFrame], nights: int, analyses: Sequence[int], seed: int = 1
) -> float:
    """The share of nights without any change that call a curve slower at some look.

    Each night goes on, and is looked at after the numbers of launches in `analyses`.
    """

    def alarms_at(night: int, launches: int) -> bool:
        random = np.random.default_rng((seed, night))
        return compared(runs, launches, random, 1.0, len(analyses)).regressed

    alarms = [any(alarms_at(night, launches) for launches in analyses) for night in range(nights)]
    return float(np.mean(alarms))


def share_named_first(
    runs: Sequence[pl.DataFrame], nights: int, launches: int, seed: int = 1
) -> float:
    """The share of nights in which the only curve that is slower, PLANTED times, is named first."""
    random = np.random.default_rng(seed)
    first_count = 0
    for _ in range(nights):
        first = compared(runs, launches, random, PLANTED).by_evidence()[0]
        first_count += first.worse == "worse" and first.point["axes"] == _axes(0)
    return first_count / nights


def share_missed(runs: Sequence[pl.DataFrame], nights: int, launches: int, seed: int = 1) -> float:
    """The share of nights in which a curve that is slower by the tolerance is called not slower."""
    random = np.random.default_rng(seed)
    missed_count = 0
    for _ in range(nights):
        curves = compared(runs, launches, random, 1 + TOLERANCE).curves
        (slower,) = (curve for curve in curves if curve.point["axes"] == _axes(0))
        missed_count += slower.worse == "not worse"
    return missed_count / nights


def compared(
    runs: Sequence[pl.DataFrame],
    launches: int,
    random: np.random.Generator,
    planted: float,
    analyses: int = 1,
) -> Comparison:
    """Two nights, drawn at random; in the second one the first curve takes `planted` times."""
    whole = int(runs[0]["launch"].max()) + 1  # type: ignore[arg-type]
    count = -(-launches // whole)
    sides: list[list[pl.DataFrame]] = [[], []]
    for curve in range(CURVES):
        drawn = random.choice(len(runs), 2 * count, replace=False)
        for side, frames in enumerate(sides):
            factor = planted if side and curve == 0 else 1.0
            for place, number in enumerate(drawn[side * count : (side + 1) * count]):
                launch = pl.col("launch") + whole * place
                frames.append(
                    runs[number]
                    .with_columns(
                        run=pl.lit("night"),
                        axes=pl.lit(_axes(curve)),
                        launch=launch,
                        median_s=pl.col("median_s") * factor,
                        lowest_s=pl.col("lowest_s") * factor,
                    )
                    .filter(launch < launches)
                )
    a, b = (pl.concat(frames) for frames in sides)
    (comparison,) = compare_all([Sides(a, b, [("", "")], analyses=analyses)], 1 + TOLERANCE)
    return comparison


def _axes(curve: int) -> str:
    return f"curve={curve}"


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
