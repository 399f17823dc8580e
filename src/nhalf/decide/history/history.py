"""Each curve over time: its level in every run, its changes, and changes that coincide.

The share of false changes among the curves that are reported is controlled
(statistics/family.py), and the verdict on a change is that of decide/changes.py, from its interval
at the error that decided. It is unclear where the levels have too few launches, or were measured in
another state of the machine, or in one that is unknown.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path

import numpy as np
import polars as pl

from nhalf.base.dates import date_of
from nhalf.base.errors import InputError, unknown
from nhalf.base.numbers import MISSING, says_nothing
from nhalf.decide.changes import Ratio, Verdict, least
from nhalf.decide.check.unclear_runs import unclear_by_curve
from nhalf.decide.check.verdict import UNDECIDED
from nhalf.decide.compare import THRESHOLD
from nhalf.decide.history import around
from nhalf.decide.history.around import Difference
from nhalf.decide.history.levels import (
    RUNS_MIN,
    Levels,
    all_medians,
    curve_levels,
    pair_levels,
    tail_levels,
)
from nhalf.facts.facts import Facts
from nhalf.results.pair_map.times import PATTERNS
from nhalf.statistics.change_points import (
    ERROR,
    LevelShift,
    change_points,
    last_apart,
    smallest_error,
)
from nhalf.statistics.doubt import (
    CERTAIN,
    DIFFERENT_STATES,
    Doubt,
    different_clocks,
    few_launches,
    unknown_state,
    wide_interval,
)
from nhalf.statistics.family import family_error
from nhalf.statistics.same_state import LAUNCHES_MIN, UNKNOWN_MOST
from nhalf.store.collection import distinct
from nhalf.store.run import Run

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
    doubt: Doubt = CERTAIN
    threshold: float = THRESHOLD

    @property
    def verdict(self) -> Verdict:
        """The verdict of decide/changes.py; "unclear" if there is a doubt."""
        return self._ratio.verdict(self.threshold) if self.doubt is CERTAIN else "unclear"

    @property
    def evidence(self) -> tuple[int, float]:
        """A key to sort by: slower, faster, unclear, and the difference that is certain."""
        certain = least(self._ratio, self.verdict != "faster")
        return ("slower", "faster", "unclear").index(self.verdict), -certain

    @property
    def _ratio(self) -> Ratio:
        return Ratio(self.ratio, self.low, self.high)

    @property
    def date(self) -> str:
        """Start of the first run of the new level, local time."""
        return moment(self.started_s)


@dataclass(frozen=True)
class CurveHistory:
    """A curve's levels and its changes, in order.

    `last_ratio` is the last run over the level before it, None if noise explains the difference;
    `unclear_runs` the number of runs in a row, up to the last, that are unclear against the first.
    """

    levels: Levels
    shifts: tuple[Shift, ...]
    last_ratio: float | None
    unclear_runs: int = 0

    @property
    def certain(self) -> list[Shift]:
        """The changes that are certain, in order."""
        return [shift for shift in self.shifts if shift.verdict != "unclear"]

    @property
    def slowdown(self) -> list[Shift]:
        """The last changes that are certain, as many as are to slower without another between."""
        last = takewhile(lambda shift: shift.verdict == "slower", reversed(self.certain))
        return list(last)[::-1]

    @property
    def is_slower(self) -> bool:
        """Whether the last change that is certain was to slower."""
        return bool(self.slowdown)

    @property
    def ratio_now(self) -> float:
        """The last level over the first one; 1 if no change is certain."""
        return math.prod(shift.ratio for shift in self.certain)


@dataclass(frozen=True)
class History:
    """All curves present in at least two runs; `started_s` by run, in order of time.

    Tails that grew are curves, too, with `quantile` in what identifies them (levels.py).
    `error` is that of the intervals of a curve's changes, `latest` the last run, `occasions` what
    the keys of `started_s` stand for.
    """

    started_s: dict[str, float]
    curves: tuple[CurveHistory, ...]
    error: float
    latest: Path
    occasions: str = "runs"

    @property
    def shifts(self) -> list[tuple[Levels, Shift]]:
        """Every change of every curve: slower ones first, by what is certain of them."""
        pairs = [(curve.levels, shift) for curve in self.curves for shift in curve.shifts]
        return sorted(pairs, key=lambda pair: pair[1].evidence)

    @property
    def regressed(self) -> bool:
        """Whether a curve is slower than it was before its last change."""
        return any(curve.is_slower for curve in self.curves)

    def exit_code(self, unclear_max: int) -> int:
        """What a script learns: 1 if a curve is slower, else UNDECIDED if one stays unclear.

        A curve does after `unclear_max` unclear runs in a row; 0: never.
        """
        most = max((curve.unclear_runs for curve in self.curves), default=0)
        is_undecided = 0 < unclear_max <= most
        return 1 if self.regressed else UNDECIDED * is_undecided


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
    facts_by_run = {name: Facts.of([run]) for name, run in runs_by_name.items()}
    medians = _narrowed(all_medians(facts_by_run), pattern, mpi, sizes)
    order = list(started_s)
    is_map = pl.col("pattern").is_in(PATTERNS)
    pairs = list(pair_levels(facts_by_run, order, medians.filter(is_map)))
    whole = list(curve_levels(medians.filter(~is_map) if pairs else medians, order))
    levels = [*whole, *pairs]
    if not levels:
        raise InputError("no two of these runs have a curve in common", "nhalf show tells theirs")
    error = curve_error(levels)
    plain = {name: around.surroundings(run) for name, run in runs_by_name.items()}
    errors = error, ERROR / len(levels)
    unclear = unclear_by_curve([runs_by_name[name] for name in started_s])
    curves = [
        replace(
            curve_history(curve, _environments(curve, runs_by_name, plain), started_s, errors),
            unclear_runs=unclear.get(tuple(curve.curve.values()), 0),
        )
        for curve in levels
    ]
    tails = list(tail_levels(whole, facts_by_run))
    errors = curve_error(tails), 0.0
    for tail in tails:
        its = _environments(tail, runs_by_name, plain)
        grown = curve_history(tail, its, started_s, errors)
        if any(shift.verdict == "slower" for shift in grown.shifts):
            curves.append(grown)
    return History(started_s, tuple(curves), error, runs_by_name[list(started_s)[-1]].path)


def _environments(
    levels: Levels, runs_by_name: Mapping[str, Run], plain: Mapping[str, Mapping[str, str]]
) -> list[dict[str, str]]:
    """The environment of each run of a curve, with the curve's library."""
    return [
        around.with_library(plain[run], runs_by_name[run], library)
        for run, library in zip(levels.runs, levels.libraries, strict=True)
    ]


def curve_error(levels: Sequence[Levels]) -> float:
    """The error for the changes of each curve: of those that show one, ERROR are false at most."""
    allowed = [ERROR * number / len(levels) for number in range(1, len(levels) + 1)]
    return family_error([_smallest_error(curve, allowed) for curve in levels], ERROR)


def _smallest_error(levels: Levels, errors: Sequence[float]) -> float:
    """The smallest error at which a curve has a change without doubt."""

    def counts(changes: list[LevelShift]) -> bool:
        return any(
            _is_beyond(change, levels) and _doubt(levels, changes, number) is CERTAIN
            for number, change in enumerate(changes)
        )

    return smallest_error(np.log(levels.ratio), errors, counts)


def _is_beyond(change: LevelShift, levels: Levels) -> bool:
    """Whether a change is beyond the tolerance."""
    return abs(change.value) > math.log(levels.threshold)


def _sides(levels: Levels, changes: Sequence[LevelShift], number: int) -> tuple[slice, slice]:
    """The runs before and after a change, without those whose side is undetermined."""
    change = changes[number]
    start = changes[number - 1].at if number else 0
    end = changes[number + 1].at if number + 1 < len(changes) else len(levels.runs)
    return slice(start, max(change.first, start + 1)), slice(change.last, end)


def _doubt(levels: Levels, changes: Sequence[LevelShift], number: int) -> Doubt:
    """Why a change decides nothing: launches, states of the machine, or its interval."""
    change, sides = changes[number], _sides(levels, changes, number)
    before, after = sides
    edges = [0, *(change.at for change in changes), len(levels.runs)][number : number + 3]
    launches = min(sum(levels.launches[low:high]) for low, high in pairwise(edges))
    if launches < LAUNCHES_MIN:
        return few_launches(launches, LAUNCHES_MIN)
    unknown_share = max(float(levels.unknown_share[side].mean()) for side in sides)
    if unknown_share > UNKNOWN_MOST:
        return unknown_state(unknown_share)
    if around.flag_difference(levels.flag_s[before], levels.flag_s[after]):
        return DIFFERENT_STATES
    clocks_hz = around.clocks_apart(levels.gpu_clock_hz[before], levels.gpu_clock_hz[after])
    if clocks_hz:
        return different_clocks(*clocks_hz)
    is_wide = says_nothing(math.exp(change.low), math.exp(change.high))
    return wide_interval(launches) if is_wide else CERTAIN


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


def curve_history(
    levels: Levels,
    environments: Sequence[Mapping[str, str]],
    started_s: Mapping[str, float],
    errors: tuple[float, float],
) -> CurveHistory:
    """The history of a curve, with the environments of its runs.

    `errors` are those of changes, and of a last run that differs; 0: none is looked for.
    """
    logs = np.log(levels.ratio)
    changes = change_points(logs, errors[0])
    shifts = [
        _shift(levels, changes, number, environments, started_s)
        for number, change in enumerate(changes)
        if _is_beyond(change, levels)
    ]
    apart = last_apart(logs, changes, errors[1]) if errors[1] else None
    counts = apart is not None and abs(apart) > math.log(levels.threshold)
    return CurveHistory(levels, tuple(shifts), math.exp(apart or 0.0) if counts else None)


def _shift(
    levels: Levels,
    changes: Sequence[LevelShift],
    number: int,
    run_environments: Sequence[Mapping[str, str]],
    started_s: Mapping[str, float],
) -> Shift:
    change = changes[number]
    before, after = _sides(levels, changes, number)
    differences = [
        *around.flag_difference(levels.flag_s[before], levels.flag_s[after]),
        *around.clock_difference(levels.gpu_clock_hz[before], levels.gpu_clock_hz[after]),
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
        _doubt(levels, changes, number),
        levels.threshold,
    )
