"""The tail of each curve in each run: how much longer its slowest samples take than its median.

The tail of a run is the mean of those of its launches (tail_ratios.py), over the sizes that all
runs measured. Changes are found in them as in levels, with another error; only tails that grew are
shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from nhalf.decide.history.levels import Levels, as_matrix
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
from nhalf.statistics.intervals import launch_intervals
from nhalf.statistics.tails import samples_needed, slow_samples
from nhalf.store.keys import COMPARED_CURVE

NEEDED = samples_needed(QUANTILE)


def tail_levels(levels: Sequence[Levels], facts_by_run: Mapping[str, Facts]) -> Iterator[Levels]:
    """The tails of curves, relative to those of their first run; runs with few samples left out."""
    counts = [_counts(curve, facts_by_run) for curve in levels]
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


def _counts(curve: Levels, facts_by_run: Mapping[str, Facts]) -> dict[str, Counts]:
    """Launches and samples of the sizes of a curve, by run."""
    return {
        run: counts_by_size(facts_by_run[run].stated.filter("counts", HAS_TAIL, _is_of(curve, run)))
        for run in curve.runs
    }


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
    _, low, high = launch_intervals(as_matrix(parts))
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
        time_s=float("nan"),
        flag_s=curve.flag_s[places],
        gpu_clock_hz=curve.gpu_clock_hz[places],
        unknown_share=curve.unknown_share[places],
        threshold=TAIL_THRESHOLD,
    )
