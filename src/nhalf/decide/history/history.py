# SPDX-License-Identifier: Apache-2.0
"""Each curve over time: its level in every run, its changes, and changes that coincide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.dates import date_of
from nhalf.base.errors import InputError, unknown
from nhalf.base.numbers import MISSING
from nhalf.decide.changes import Ratio, Verdict
from nhalf.decide.compare import THRESHOLD
from nhalf.decide.history import around
from nhalf.decide.history.around import Difference
from nhalf.decide.history.levels import Levels, all_medians, curve_levels
from nhalf.statistics.change_points import ERROR, Change, change_points, last_apart
from nhalf.store.collection import distinct
from nhalf.store.run import Run

RUNS_MIN = 2
RUNS_SURE = 4
"""The minimum number of runs for a change: two on either side."""
METHOD = (
    "circular binary segmentation (Olshen, Venkatraman, Lucito, Wigler 2004) by Student's t; "
    "dates by likelihood (Hansen 2000)"
)


@dataclass(frozen=True)
class Shift:
    """A change of a curve's level: `before` is the last run of the old level, `at` the next one.

    `first` and `last` are the runs between which the first run of the new level lies in 95 of 100
    cases. `ratio` is time after over time before, with its interval.
    """

    before: str
    at: str
    first: str
    last: str
    started_s: float
    ratio: float
    low: float
    high: float
    differences: tuple[Difference, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of decide/changes.py, "unclear" if the machine was in another state."""
        if any(difference.name == around.FLAG for difference in self.differences):
            return "unclear"
        return Ratio(self.ratio, self.low, self.high).verdict(THRESHOLD)

    @property
    def date(self) -> str:
        """Start of the first run of the new level, local time."""
        return moment(self.started_s)


@dataclass(frozen=True)
class CurveHistory:
    """A curve's levels and its changes, in order.

    `last_ratio` is the last run over the level before it, None if noise explains the difference.
    """

    levels: Levels
    shifts: tuple[Shift, ...]
    last_ratio: float | None


@dataclass(frozen=True)
class History:
    """All curves present in at least two runs; `started_s` by run, in order of time."""

    started_s: dict[str, float]
    curves: tuple[CurveHistory, ...]
    error: float

    @property
    def shifts(self) -> list[tuple[Levels, Shift]]:
        """Every change of every curve, the latest first."""
        pairs = [(curve.levels, shift) for curve in self.curves for shift in curve.shifts]
        return sorted(pairs, key=lambda pair: -pair[1].started_s)


def moment(started_s: float) -> str:
    """A local time, to the minute."""
    date = date_of(started_s)
    return f"{date:%Y-%m-%d %H:%M}" if date else MISSING


def history(
    runs: Sequence[Run], pattern: str = "", mpi: str = "", sizes: Sequence[int] = ()
) -> History:
    """The history of runs, in order of their first points.

    `pattern`, `mpi` (a library or the beginning of its name) and `sizes` narrow it. Raises
    InputError where fewer than two runs have a curve in common.
    """
    runs_by_name = distinct(runs)
    if len(runs_by_name) < RUNS_MIN:
        raise InputError("a history needs two runs at least", "name more runs, or their folder")
    started_s = _started(runs_by_name)
    medians = _narrowed(all_medians(runs_by_name), pattern, mpi, sizes)
    levels = list(curve_levels(medians, list(started_s)))
    if not levels:
        raise InputError("no two of these runs have a curve in common", "nhalf show tells theirs")
    error = ERROR / len(levels)
    plain = {name: around.surroundings(run) for name, run in runs_by_name.items()}
    curves = [_curve(curve, runs_by_name, plain, started_s, error) for curve in levels]
    return History(started_s, tuple(curves), error)


def _started(runs_by_name: Mapping[str, Run]) -> dict[str, float]:
    first = pl.col("started_s").min()
    starts_s = {
        name: run.measurements().select(first).collect().item()
        for name, run in runs_by_name.items()
    }
    return dict(sorted(starts_s.items(), key=lambda item: (item[1], item[0])))


def _narrowed(medians: pl.DataFrame, pattern: str, mpi: str, sizes: Sequence[int]) -> pl.DataFrame:
    """The selected launch medians; raises InputError if none are left."""
    if pattern and pattern not in set(medians["pattern"]):
        raise unknown("pattern", pattern, set(medians["pattern"]))
    if pattern:
        medians = medians.filter(pl.col("pattern") == pattern)
    if mpi:
        is_named = pl.col("mpi").eq(mpi) | pl.col("family").eq(mpi)
        if medians.filter(is_named).is_empty():
            raise unknown("library", mpi, {*medians["mpi"], *medians["family"]})
        medians = medians.filter(is_named)
    if sizes:
        medians = medians.filter(pl.col("bytes").is_in(list(sizes)))
    if medians.is_empty():
        raise InputError("no run measured these sizes", "nhalf show RUN lists what it measured")
    return medians


def _curve(
    levels: Levels,
    runs_by_name: Mapping[str, Run],
    environments: Mapping[str, Mapping[str, str]],
    started_s: Mapping[str, float],
    error: float,
) -> CurveHistory:
    logs = np.log(levels.ratio)
    changes = change_points(logs, error)
    run_environments = [
        around.with_library(environments[run], runs_by_name[run], library)
        for run, library in zip(levels.runs, levels.libraries, strict=True)
    ]
    shifts = [
        _shift(levels, changes, number, run_environments, started_s)
        for number, change in enumerate(changes)
        if abs(change.value) > math.log(THRESHOLD)
    ]
    apart = last_apart(logs, changes, error)
    counts = apart is not None and abs(apart) > math.log(THRESHOLD)
    return CurveHistory(levels, tuple(shifts), math.exp(apart or 0.0) if counts else None)


def _shift(
    levels: Levels,
    changes: Sequence[Change],
    number: int,
    run_environments: Sequence[Mapping[str, str]],
    started_s: Mapping[str, float],
) -> Shift:
    change = changes[number]
    start = changes[number - 1].at if number else 0
    end = changes[number + 1].at if number + 1 < len(changes) else len(levels.runs)
    # Within the range of the date, the side of a run is undetermined.
    before, after = slice(start, max(change.first, start + 1)), slice(change.last, end)
    differences = [
        *around.flag_difference(levels.flag_s[before], levels.flag_s[after]),
        *around.differences(run_environments[before], run_environments[after]),
    ]
    runs = levels.runs
    return Shift(
        runs[change.at - 1],
        runs[change.at],
        runs[change.first],
        runs[change.last],
        started_s[runs[change.at]],
        math.exp(change.value),
        math.exp(change.low),
        math.exp(change.high),
        tuple(differences),
    )


def as_json(history: History) -> dict[str, Any]:
    """The output of `nhalf history --json`; an unknown interval is null."""
    return {
        "method": METHOD,
        "error": history.error,
        "runs": [{"run": run, "started_s": at} for run, at in history.started_s.items()],
        "curves": [_curve_json(curve) for curve in history.curves],
    }


def _curve_json(curve: CurveHistory) -> dict[str, Any]:
    levels = curve.levels
    return {
        **levels.curve,
        "bytes": list(levels.sizes),
        "levels": [
            {
                "run": run,
                "library": levels.libraries[i],
                "launches": levels.launches[i],
                "ratio": float(levels.ratio[i]),
                "ci": [float(levels.low[i]), float(levels.high[i])],
                "time_s": float(levels.time_s * levels.ratio[i]),
            }
            for i, run in enumerate(levels.runs)
        ],
        "changes": [_shift_json(shift) for shift in curve.shifts],
        "last_apart": curve.last_ratio,
    }


def _shift_json(shift: Shift) -> dict[str, Any]:
    return {
        "before": shift.before,
        "at": shift.at,
        "at_first": shift.first,
        "at_last": shift.last,
        "started_s": shift.started_s,
        "verdict": shift.verdict,
        "ratio": shift.ratio,
        "ci": [shift.low, shift.high],
        "environment": [vars(difference) for difference in shift.differences],
    }
