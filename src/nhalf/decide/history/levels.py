"""The level of each curve in each run.

A run is compared with the others size by size: the logarithm of a launch median minus the median of
all runs at that size. The level of a launch is the interquartile mean of these over sizes, as in
decide/compare.py, so runs need not have measured the same sizes; the level of a run and its
interval are taken over its launches (statistics/intervals.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.decide.check.unclear_runs import FAMILY
from nhalf.decide.compare import THRESHOLD
from nhalf.facts.facts import Facts
from nhalf.statistics.intervals import launch_intervals
from nhalf.statistics.ratio_intervals import interquartile_mean
from nhalf.statistics.summary import check_samples
from nhalf.store.collection import Collection, collected
from nhalf.store.keys import CURVE

SHARE_LEAST = 0.5
"""A size counts if this share of the runs with the curve measured it."""

NODES, NAME = "nodes", "name"
"""What tells curves of a node or of two nodes apart: their names, and what was timed there."""


@dataclass(frozen=True)
class Levels:
    """A curve in the runs that have it, in order of time; `curve` holds the columns of CURVE.

    `ratio`, `low` and `high` (runs,) are relative to the first run; the ends are NaN if a run
    has one launch. `time_s` is that of the first run if the curve has one size, else NaN.
    `flag_s` is the time of a flag between two cores, `gpu_clock_hz` the clock of the GPU, NaN if it
    was not measured; `unknown_share` the share of a run's times without that flag, 0 for curves
    that have none. Smaller changes than `threshold`, a ratio, are not reported.
    """

    curve: dict[str, Any]
    sizes: tuple[int, ...]
    runs: tuple[str, ...]
    libraries: tuple[str, ...]
    launches: tuple[int, ...]
    ratio: Floats
    low: Floats
    high: Floats
    time_s: float
    flag_s: Floats
    gpu_clock_hz: Floats
    unknown_share: Floats
    threshold: float = THRESHOLD


def node_levels(
    curve: Mapping[str, Any],
    runs: Mapping[str, tuple[str, Floats]],
    sizes: tuple[int, ...] = (),
    threshold: float = THRESHOLD,
) -> Levels:
    """The levels of a curve of nodes: library and times, (launches,), by run in order of time.

    `curve` has NODES, NAME, and of the columns of CURVE what is known.
    """
    libraries, times_s = zip(*runs.values(), strict=True)
    matrix = as_matrix(times_s)
    time_s, low_s, high_s = launch_intervals(matrix)
    launches = np.isfinite(matrix).sum(axis=1)
    alone = launches == 1
    return Levels(
        curve={**dict.fromkeys(CURVE, ""), "ranks": None, **curve},
        sizes=sizes,
        runs=tuple(runs),
        libraries=libraries,
        launches=tuple(map(int, launches)),
        ratio=time_s / time_s[0],
        low=np.where(alone, np.nan, low_s / time_s[0]),
        high=np.where(alone, np.nan, high_s / time_s[0]),
        time_s=float(time_s[0]),
        flag_s=np.full(len(runs), np.nan),
        gpu_clock_hz=np.full(len(runs), np.nan),
        unknown_share=np.zeros(len(runs)),
        threshold=threshold,
    )


def as_matrix(rows: Sequence[Sequence[float] | Floats]) -> Floats:
    """Rows of different lengths as one array, filled up with NaN."""
    matrix = np.full((len(rows), max(map(len, rows))), np.nan)
    for line, row in zip(matrix, rows, strict=True):
        line[: len(row)] = row
    return matrix


def usable_runs(places: Iterable[Path]) -> Collection:
    """The runs at `places` for a history; those of a folder with impossible times are left out."""
    return collected(places, lambda run: check_samples(run.measurements()))


def all_medians(facts_by_run: Mapping[str, Facts]) -> pl.DataFrame:
    """Launch medians of runs by name, with `flag_s`, and `family`, the library without its version.

    Runs that measured two versions of a library keep them relative.
    """
    medians = pl.concat(
        facts.flagged.with_columns(run=pl.lit(name)) for name, facts in facts_by_run.items()
    )
    names = medians.select("run", "mpi").unique()
    return medians.with_columns(
        family=pl.col("mpi").replace_strict(_families(names), return_dtype=pl.String)
    )


def _families(names: pl.DataFrame) -> dict[str, str]:
    """Libraries by name, each without its version if every run has at most one of that family.

    Settings stay: `openmpi-5.0.11+tcp` is of the family `openmpi+tcp`.
    """
    families = {name: FAMILY.sub(r"\1", name) for name in names["mpi"]}
    counted = names.with_columns(family=pl.col("mpi").replace_strict(families))
    several = counted.group_by("run", "family").len().filter(pl.col("len") > 1)["family"]
    mixed = set(several)
    return {name: name if family in mixed else family for name, family in families.items()}


def curve_levels(medians: pl.DataFrame, order: Sequence[str]) -> Iterator[Levels]:
    """The levels of every curve that at least two runs have; `order` are runs in order of time."""
    key = ["family" if name == "mpi" else name for name in CURVE]
    place = {run: number for number, run in enumerate(order)}
    timed = medians.filter(pl.col("median_s") > 0)
    for values, rows in timed.group_by(key, maintain_order=True):
        curve = dict(zip(CURVE, values, strict=True))
        runs = sorted(rows["run"].unique().to_list(), key=place.__getitem__)
        is_usual = pl.col("run").n_unique().over("bytes") >= SHARE_LEAST * len(runs)
        usual_rows = rows.filter(is_usual)
        runs = [run for run in runs if run in set(usual_rows["run"])]
        if len(runs) > 1:
            yield _levels(curve, usual_rows, runs)


def _levels(curve: dict[str, Any], rows: pl.DataFrame, runs: list[str]) -> Levels:
    logs = rows.with_columns(log=pl.col("median_s").log())
    by_run = logs.group_by("bytes", "run").agg(pl.col("log").median())
    middle = by_run.group_by("bytes").agg(middle=pl.col("log").median())
    relative = logs.join(middle, on="bytes").with_columns(log=pl.col("log") - pl.col("middle"))
    launches = relative.group_by("run", "launch").agg("log")
    by_launch: dict[str, list[float]] = {run: [] for run in runs}
    for run, _, values in launches.sort("run", "launch").iter_rows():
        by_launch[run].append(float(interquartile_mean(np.array(values))))
    matrix = np.exp(as_matrix([by_launch[run] for run in runs]))
    ratio, low, high = launch_intervals(matrix)
    counts = (~np.isnan(matrix)).sum(axis=1)
    alone = counts == 1
    sizes = tuple(sorted(rows["bytes"].unique().to_list()))
    flags_s, clocks_hz = (
        np.array(_values_by_run(rows, runs, pl.col(name).drop_nans().median()), np.float64)
        for name in ("flag_s", "gpu_clock_hz")
    )
    flag = pl.col("flag_s")
    has_flags = rows["flag_s"].is_not_null().any()
    is_unknown = (flag.is_null() | flag.is_nan()) & has_flags
    unknown_shares = _values_by_run(rows, runs, is_unknown.mean())
    libraries = _values_by_run(rows, runs, pl.col("mpi").first())
    return Levels(
        curve,
        sizes,
        tuple(runs),
        tuple(libraries),
        tuple(int(count) for count in counts),
        ratio / ratio[0],
        np.where(alone, np.nan, low / ratio[0]),
        np.where(alone, np.nan, high / ratio[0]),
        float(ratio[0] * np.exp(middle["middle"][0])) if len(sizes) == 1 else float("nan"),
        flags_s,
        clocks_hz,
        np.array(unknown_shares),
    )


def _values_by_run(rows: pl.DataFrame, runs: list[str], expression: pl.Expr) -> list[Any]:
    values_by_run = dict(rows.group_by("run").agg(expression.alias("value")).iter_rows())
    return [values_by_run[run] for run in runs]
