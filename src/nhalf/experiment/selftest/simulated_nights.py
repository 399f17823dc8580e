"""Simulated nights of many curves: how often a comparison raises a false alarm, or misses a change.

A night is put together from simulated runs of one curve, each curve from other ones, and compared
with another night as `nhalf check --against` does. Runs are those of the model machine
(simulated_runs.py), or drawn here: their launches differ, and what they share differs, too. Nights
that share runs err together: only 2 CURVES as many runs as nights show the rate of as many nights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.decide.changes import Comparison
from nhalf.decide.compare import Sides, compare_all
from nhalf.statistics.next_run import BETWEEN_RUNS, next_run_intervals
from nhalf.store.schema import LAUNCH_COLUMNS, conformed

CURVES = 8
"""The default study has seven for each library."""
TOLERANCE = 0.10
"""The default of `nhalf check --against`."""
PLANTED = 1.25
NIGHT_SIZES = (0, 8, 64, 512, 4096, 32768, 262144, 2097152)
SIZE_NOISE = 0.02
"""By how much launches differ at one size alone."""


def runs_that_differ(
    launch_noise: float, launches: int, runs: int, seed: int, between_runs: float = BETWEEN_RUNS
) -> list[pl.DataFrame]:
    """Runs of a curve (LAUNCH_COLUMNS) whose launches differ by `launch_noise`, all sizes alike.

    Runs differ by the share `between_runs` of that variance beyond their launches.
    """
    random = np.random.default_rng(seed)
    frames = []
    for _ in range(runs):
        shift = random.normal(0, math.sqrt(between_runs) * launch_noise)
        level = shift + random.normal(0, launch_noise, (launches, 1))
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
    alarms = [compared(runs, launches, random, 1.0).regressed for _ in range(nights)]
    return float(np.mean(alarms))


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
