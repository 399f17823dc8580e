"""The level of each curve in each run, of each pair of hosts, and of each tail.

A run is compared with the others size by size: the logarithm of a launch median minus the median of
all runs at that size. The level of a launch is the interquartile mean of these over sizes, as in
decide/compare.py, so runs need not have measured the same sizes; the level of a run and its
interval are taken over its launches (statistics/intervals.py).

A pattern of a map of all pairs has a curve for each pair of hosts and size. Its time in a launch is
that of the slower way, between the median ranks of both.

The tail of a run, how much longer its slowest samples take than its median, is the mean of those of
its launches (tail_ratios.py), over the sizes that all runs measured. Changes are found in them as
in levels, with another error; only tails that grew are shown.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.carrier import carrier
from nhalf.base.units import format_size
from nhalf.decide.check.unclear_runs import FAMILY
from nhalf.decide.compare import THRESHOLD
from nhalf.decide.tail_ratios import (
    HAS_TAIL,
    QUANTILE,
    TAIL_THRESHOLD,
    Counts,
    Tails,
    counts_by_size,
    side_tails,
    size_groups,
)
from nhalf.facts.facts import Facts
from nhalf.results.pair_map.times import hosts_of, pair_maps
from nhalf.statistics.intervals import launch_intervals
from nhalf.statistics.ratio_intervals import interquartile_mean
from nhalf.statistics.summary import check_samples
from nhalf.statistics.tails import samples_needed, slow_samples
from nhalf.store.collection import Collection, collected
from nhalf.store.keys import COMPARED_CURVE, CURVE

SHARE_LEAST = 0.5
"""A size counts if this share of the runs with the curve measured it."""

RUNS_MIN = 2
"""A curve needs this many runs."""

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
    first_s, over_first = _over_first(times_s)
    return Levels(
        **over_first,
        curve={**dict.fromkeys(CURVE, ""), "ranks": None, **curve},
        sizes=sizes,
        runs=tuple(runs),
        libraries=libraries,
        time_s=first_s,
        flag_s=np.full(len(runs), np.nan),
        gpu_clock_hz=np.full(len(runs), np.nan),
        unknown_share=np.zeros(len(runs)),
        threshold=threshold,
    )


def _over_first(runs: Sequence[Sequence[float] | Floats]) -> tuple[float, dict[str, Any]]:
    """The level of the first of several runs, of values (launches,) each, and those of all over it.

    They are members of Levels; the ends of the interval are NaN for one launch.
    """
    matrix = _as_matrix(runs)
    level, low, high = launch_intervals(matrix)
    launches = np.isfinite(matrix).sum(axis=1)
    ends = {"low": low, "high": high}
    return float(level[0]), {
        "launches": tuple(map(int, launches)),
        "ratio": level / level[0],
        **{name: np.where(launches == 1, np.nan, end / level[0]) for name, end in ends.items()},
    }


def _as_matrix(rows: Sequence[Sequence[float] | Floats]) -> Floats:
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
    # Settings stay: `openmpi-5.0.11+tcp` is of the family `openmpi+tcp`.
    families = {name: FAMILY.sub(r"\1", name) for name in names["mpi"]}
    counted = names.with_columns(family=pl.col("mpi").replace_strict(families))
    mixed = set(counted.group_by("run", "family").len().filter(pl.col("len") > 1)["family"])
    families = {name: name if own in mixed else own for name, own in families.items()}
    return medians.with_columns(
        family=pl.col("mpi").replace_strict(families, return_dtype=pl.String)
    )


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
        if len(runs) >= RUNS_MIN:
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
    first, over_first = _over_first([np.exp(by_launch[run]) for run in runs])
    sizes = tuple(sorted(rows["bytes"].unique().to_list()))
    flags_s, clocks_hz = (
        np.array(_values_by_run(rows, runs, pl.col(name).drop_nans().median()), np.float64)
        for name in ("flag_s", "gpu_clock_hz")
    )
    flag = pl.col("flag_s")
    has_flags = rows["flag_s"].is_not_null().any()
    is_unknown = (flag.is_null() | flag.is_nan()) & has_flags
    return Levels(
        **over_first,
        curve=curve,
        sizes=sizes,
        runs=tuple(runs),
        libraries=tuple(_values_by_run(rows, runs, pl.col("mpi").first())),
        time_s=first * math.exp(middle["middle"][0]) if len(sizes) == 1 else math.nan,
        flag_s=flags_s,
        gpu_clock_hz=clocks_hz,
        unknown_share=np.array(_values_by_run(rows, runs, is_unknown.mean())),
    )


def _values_by_run(rows: pl.DataFrame, runs: list[str], expression: pl.Expr) -> list[Any]:
    values_by_run = dict(rows.group_by("run").agg(expression.alias("value")).iter_rows())
    return [values_by_run[run] for run in runs]


SETTING = ("pattern", "mpi", "transport", "ranks", "placement")


def pair_levels(
    facts_by_run: Mapping[str, Facts], order: Sequence[str], medians: pl.DataFrame
) -> Iterator[Levels]:
    """The levels of every pair of hosts that two runs or more have; `order` are runs by time.

    They are of the patterns, sizes and libraries (with their `family`) that `medians` has.
    """
    chosen = set(medians.select("run", "pattern", "mpi", "bytes").iter_rows())
    families = dict(medians.select("mpi", "family").unique().iter_rows())
    curves: dict[tuple[Any, ...], dict[str, tuple[str, Floats]]] = defaultdict(dict)
    for run in [run for run in order if run in set(medians["run"])]:
        facts = facts_by_run[run]
        for pair_map in pair_maps(facts.measurements, hosts_of(facts.places)):
            pattern, library, size_bytes = (pair_map.key[n] for n in ("pattern", "mpi", "bytes"))
            if (run, pattern, library, size_bytes) not in chosen or not pair_map.by_host:
                continue
            slower_s = np.fmax(pair_map.between_s, pair_map.between_s.swapaxes(1, 2))
            setting = [pair_map.key[name] for name in (*SETTING[2:], "bytes")]
            for (i, first), (j, second) in combinations(enumerate(pair_map.members), 2):
                times_s = slower_s[:, i, j]
                if np.isfinite(times_s).any():
                    key = (pattern, families[library], *setting, f"{first} {second}")
                    curves[key][run] = library or "", times_s
    for (*setting, size_bytes, nodes), its_runs in curves.items():
        if len(its_runs) >= RUNS_MIN:
            curve = dict(zip(SETTING, setting, strict=True))
            library = carrier(curve["mpi"], curve["transport"])
            name = f"{curve['pattern']}, {format_size(size_bytes)}, {library}"
            yield node_levels({**curve, NODES: nodes, NAME: name}, its_runs, (size_bytes,))


NEEDED = samples_needed(QUANTILE)


def tail_levels(levels: Sequence[Levels], facts_by_run: Mapping[str, Facts]) -> Iterator[Levels]:
    """The tails of curves, relative to those of their first run; runs with few samples left out."""
    counts: list[dict[str, Counts]] = [
        {
            run: counts_by_size(
                facts_by_run[run].stated.filter("counts", HAS_TAIL, _is_of(curve, run))
            )
            for run in curve.runs
        }
        for curve in levels
    ]
    counts_enough = [
        {run: its for run, its in of_runs.items() if sum(n for _, n in its.values()) >= NEEDED}
        for of_runs in counts
    ]
    groups = [size_groups(list(of_runs.values())) if of_runs else [] for of_runs in counts_enough]
    tails: list[dict[str, Tails]] = [{} for _ in levels]
    for run, facts in facts_by_run.items():
        # Read once for all curves, and not kept: a year of samples would not fit into memory.
        samples = slow_samples(facts.measurements, facts.stated).filter(HAS_TAIL)
        for number, curve in enumerate(levels):
            if groups[number] and run in counts_enough[number]:
                rows = samples.filter(_is_of(curve, run))
                tails[number][run] = side_tails(rows, groups[number])
    for curve, its, of_groups in zip(levels, tails, groups, strict=True):
        if len(its) > 1:
            yield _relative(curve, its, tuple(size for group in of_groups for size in group))


def _is_of(curve: Levels, run: str) -> pl.Expr:
    """Whether a row of a run belongs to a curve."""
    library = curve.libraries[curve.runs.index(run)]
    is_curve = [pl.col(name) == curve.curve[name] for name in COMPARED_CURVE]
    has_size = pl.col("bytes").is_in(curve.sizes)
    return pl.all_horizontal(pl.col("mpi") == library, has_size, *is_curve)


def _relative(curve: Levels, tails: Mapping[str, Tails], sizes: tuple[int, ...]) -> Levels:
    """The levels of a curve's tails, (runs,), from those of the launches of each run."""
    places = [place for place, run in enumerate(curve.runs) if run in tails]
    runs = [curve.runs[place] for place in places]
    parts = [np.exp(np.nanmean(tails[run].part_level, axis=1)) for run in runs]
    _, low, high = launch_intervals(_as_matrix(parts))
    ratio = np.exp([tails[run].mean[0] for run in runs])
    return replace(
        curve,
        curve={**curve.curve, "quantile": QUANTILE},
        sizes=sizes,
        runs=tuple(runs),
        libraries=tuple(curve.libraries[place] for place in places),
        launches=tuple(map(len, parts)),
        ratio=ratio / ratio[0],
        low=np.minimum(low, ratio) / ratio[0],
        high=np.maximum(high, ratio) / ratio[0],
        time_s=math.nan,
        flag_s=curve.flag_s[places],
        gpu_clock_hz=curve.gpu_clock_hz[places],
        unknown_share=curve.unknown_share[places],
        threshold=TAIL_THRESHOLD,
    )
