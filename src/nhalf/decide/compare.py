"""Is B slower than A? Paired by launches, with few false alarms over a whole curve.

Launch k of every library ran in the same round, so a disturbance of the machine affected both: the
logarithm of the ratio of their launch medians is the datum, one per launch and size,

    d(k, n) = log B(k, n) - log A(k, n) = effect(n) + launch(k) + noise(k, n)

- The *level* of a launch is the interquartile mean of d over sizes: a launch-wide shift is seen
  in it, a few odd sizes are not. The curve's ratio is the mean level, its interval Student's.
- At one size the interval has two parts: that of the level (few launches, few degrees of
  freedom) and that of the size's deviations from the level, whose variances are moderated over
  sizes (Smyth 2004); they are combined by Satterthwaite's formula (Biometrics Bulletin 2, 1946).
- From ten launches on, means and variances are those that launches which hung leave
  (statistics/winsorised.py).
- B is slower if an interval lies above a ratio of 1 and the reported change is beyond the
  tolerance: a change is certain, and the best guess is that it matters. The level and the sizes of
  a curve share its probability of a false alarm (Bonferroni), and all curves of the comparison that
  of the night (family.py).
- Two runs did not take turns: each has levels and deviations of its launches, and the difference of
  their means has both variances (Welch). Runs differ by more than launches of one run do, so the
  variances have an additional share, at most BETWEEN_RUNS (between_runs.py). Launches of a machine
  that changed between states are paired state by state. What else changed between two runs cannot
  be told from the libraries.
- Where launches have fewer than ten samples, or most of these were disturbed, the interval
  of a size contains the ratio of the fastest samples as well.
- Fewer launches than LAUNCHES_MIN, an unknown state of the machine or different states leave the
  verdict open (statistics/same_state.py).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.decide.changes import Comparison, CurveRatio, Ratio, SizeRatio, Verdict, together
from nhalf.decide.tail_ratios import QUANTILE, TAIL_THRESHOLD, TailCurve, tail_curves
from nhalf.statistics.between_runs import shares_between_runs
from nhalf.statistics.doubt import CERTAIN, DISTURBED, Doubt, few_launches, wide_interval
from nhalf.statistics.family import FALSE_ALARMS, FALSE_TAILS, LOG_MOST, CurveErrors
from nhalf.statistics.intervals import Floats, launch_intervals
from nhalf.statistics.ratio_intervals import (
    AVERAGE_SHARE,
    NO_SHARE,
    Estimates,
    LaunchLogs,
    RunShare,
    fastest_ratio,
    logs_apart,
    paired_logs,
)
from nhalf.statistics.same_state import LAUNCHES_MIN
from nhalf.store.keys import COMPARED_CURVE, COMPARED_POINT

THRESHOLD = 1.02
CONFIDENCE = 1 - 2 * FALSE_ALARMS
"""That of all intervals of a comparison together, at both ends."""


@dataclass(frozen=True)
class Sides:
    """Launches of A and B (LAUNCH_COLUMNS, one run each), the pairs of libraries, and doubts.

    `doubts` are those of same_state.py; `took_turns` says that launches of A and B alternated, so
    that equal numbers are pairs, as are those of the libraries in `paired` (of B). `analyses` are
    those of the comparison while B went on (family.py). `slower_doubt` is why a curve
    that is slower may be so by something else than A and B. `samples` are those of both sides, of
    the same libraries (statistics/tails.py); without them no tails are compared.
    """

    a: pl.DataFrame
    b: pl.DataFrame
    libraries: Sequence[tuple[str, str]]
    doubts: Sequence[Mapping[str, Any]] = ()
    took_turns: bool = False
    notes: Sequence[str] = ()
    paired: Sequence[str] = ()
    analyses: int = 1
    slower_doubt: Doubt = CERTAIN
    samples: tuple[pl.DataFrame, pl.DataFrame] | None = None

    def doubt_of(self, point: Mapping[str, Any], mpi: str) -> Doubt:
        """The doubt about a curve."""
        for row in self.doubts:
            if row["mpi"] == mpi and all(row[name] == point[name] for name in COMPARED_CURVE):
                doubt: Doubt = row["doubt"]
                return doubt
        return CERTAIN


@dataclass(frozen=True)
class _Curve:
    """A curve before its verdict: sizes and times, each (sizes,), and the launches' logarithms."""

    point: dict[str, Any]
    libraries: tuple[str, str]
    launches: int
    size_bytes: Floats
    a_s: Floats
    b_s: Floats
    logs: LaunchLogs
    doubt: Doubt
    run_share: RunShare = NO_SHARE

    @cached_property
    def estimates(self) -> Estimates:
        """The logarithms of the ratios with their errors."""
        return self.logs.estimates(self.run_share)


def compare(
    a: pl.DataFrame,
    b: pl.DataFrame,
    *,
    libraries: Sequence[tuple[str, str]] | None = None,
    threshold: float = THRESHOLD,
    took_turns: bool = False,
) -> Comparison:
    """Compare launches of A and B (LAUNCH_COLUMNS, one run each).

    `libraries` pairs names of A with names of B; by default equal names, or the only one of each.
    `took_turns` says that launches of A and B alternated, as those of libraries of one run do.
    Raises InputError if nothing can be compared or the threshold is below 1.
    """
    pairs = libraries if libraries is not None else pair_libraries(a, b)
    (comparison,) = compare_all([Sides(a, b, pairs, took_turns=took_turns)], threshold)
    if not comparison.curves:
        raise nothing_in_common("A", "B")
    return comparison


def compare_all(sides: Sequence[Sides], threshold: float = THRESHOLD) -> list[Comparison]:
    """Compare several pairs of sides as one family; a comparison may be without a curve.

    Raises InputError if the threshold is below 1.
    """
    if not (math.isfinite(threshold) and threshold >= 1):
        raise InputError(f"threshold {threshold} is not a ratio above 1", "1.02 means 2 % slower")
    measured = [_measured(pair) for pair in sides]
    certain = (curve for own, _ in measured for curve in own if curve.doubt is CERTAIN)
    family = [curve.estimates for curve in certain]
    analyses = max((pair.analyses for pair in sides), default=1)
    errors = CurveErrors.of_family(family, math.log(threshold), analyses)
    tails = _judged_tails(sides, max(threshold, TAIL_THRESHOLD), analyses)
    return [
        Comparison(
            threshold,
            CONFIDENCE,
            [_doubted(_judged(curve, threshold, errors), pair.slower_doubt) for curve in curves],
            missing,
            tuple(pair.notes),
            of_pair,
        )
        for pair, (curves, missing), of_pair in zip(sides, measured, tails, strict=True)
    ]


def _judged_tails(
    sides: Sequence[Sides], threshold: float, analyses: int
) -> list[tuple[CurveRatio, ...]]:
    """The tails of every pair of sides, all of them a family."""
    measured = [
        [
            replace(tail, doubt=pair.doubt_of(tail.point, tail.libraries[1]))
            for tail in tail_curves(*pair.samples, pair.libraries, pair.took_turns)
        ]
        if pair.samples
        else []
        for pair in sides
    ]
    family = [tail.estimates for own in measured for tail in own if tail.doubt is CERTAIN]
    errors = CurveErrors.of_family(family, math.log(threshold), analyses, FALSE_TAILS)
    return [
        tuple(_doubted(_judged(tail, threshold, errors), pair.slower_doubt) for tail in own)
        for pair, own in zip(sides, measured, strict=True)
    ]


def nothing_in_common(a: str, b: str) -> InputError:
    """The error for sides without a common point."""
    return InputError(
        f"{a} and {b} have no launch of a common pattern and size",
        "compare runs of the same patterns and sizes; pair libraries of different names with "
        "RUN:LIBRARY, e.g. runs/today:openmpi",
    )


def pair_libraries(a: pl.DataFrame, b: pl.DataFrame) -> list[tuple[str, str]]:
    """Pair equal names in A and B; if there is none and each has one library, pair these two."""
    a_names, b_names = (sorted(frame["mpi"].unique().to_list()) for frame in (a, b))
    common = [(name, name) for name in a_names if name in b_names]
    if not common and len(a_names) == len(b_names) == 1:
        return [(a_names[0], b_names[0])]
    return common


def _curves(
    a: pl.DataFrame, b: pl.DataFrame, is_paired: bool
) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Every curve of A or B with the times of both: columns bytes, launch, a_s, b_s.

    Also their fastest samples, `a_fastest_s` and `b_fastest_s`, and numbers of samples, `a_samples`
    and `b_samples`. Without pairs, each row has the times of one side.
    """
    on = [*COMPARED_POINT, "launch"]
    of_a, of_b = (
        {f"{side}_s": "median_s", f"{side}_fastest_s": "lowest_s", f"{side}_samples": "samples"}
        for side in ("a", "b")
    )
    a, b = a.select(*on, **of_a), b.select(*on, **of_b)
    if is_paired:
        rows = a.join(b, on=on, how="full", coalesce=True, nulls_equal=True)
    else:
        rows = pl.concat([a, b], how="diagonal")
    for _, curve in rows.sort(on).group_by(COMPARED_CURVE, maintain_order=True):
        yield curve.select(COMPARED_CURVE).row(0, named=True), curve


def _missing(
    point: dict[str, Any], libraries: tuple[str, str], rows: pl.DataFrame, usable_bytes: list[int]
) -> list[dict[str, Any]]:
    """Sizes of a curve that cannot be compared, by reason."""
    sizes = rows.group_by("bytes").agg(
        a=pl.col("a_s").is_not_null().any(),
        b=pl.col("b_s").is_not_null().any(),
        zero=pl.col("a_s").eq(0).any() | pl.col("b_s").eq(0).any(),
    )
    lacking = pl.col("a") & pl.col("b") & ~pl.col("bytes").is_in(usable_bytes)
    reasons = {
        "only in A": pl.col("a") & ~pl.col("b"),
        "only in B": pl.col("b") & ~pl.col("a"),
        "no launch in common": lacking & ~pl.col("zero"),
        "a time of 0": lacking & pl.col("zero"),
    }
    sizes_by_reason = {
        why: sizes.filter(flag)["bytes"].sort().to_list() for why, flag in reasons.items()
    }
    name = libraries[0] if libraries[0] == libraries[1] else ",".join(libraries)
    return [
        {**point, "mpi": name, "reason": why, "bytes": size_bytes}
        for why, size_bytes in sizes_by_reason.items()
        if size_bytes
    ]


def _measured(sides: Sides) -> tuple[list[_Curve], list[dict[str, Any]]]:
    """The curves of both sides and the sizes that cannot be compared."""
    curves: list[_Curve] = []
    missing: list[dict[str, Any]] = []
    for libraries in sides.libraries:
        a_rows, b_rows = (
            frame.filter(pl.col("mpi") == mpi)
            for frame, mpi in zip((sides.a, sides.b), libraries, strict=True)
        )
        is_paired = sides.took_turns or libraries[1] in sides.paired
        for point, rows in _curves(a_rows, b_rows, is_paired):
            usable = _usable(rows, is_paired)
            sizes_bytes = usable["bytes"].unique().to_list()
            missing += _missing(point, libraries, rows, sizes_bytes)
            if not usable.is_empty():
                doubt = sides.doubt_of(point, libraries[1])
                curves.append(_curve(point, libraries, usable, is_paired, doubt))
    return curves if sides.took_turns else _with_shares(curves), missing


def _with_shares(curves: Sequence[_Curve]) -> list[_Curve]:
    """The curves of two runs with what these differ by beyond their launches."""
    certain = [curve.logs for curve in curves if curve.doubt is CERTAIN]
    shares = iter(shares_between_runs(certain))
    return [
        replace(curve, run_share=next(shares) if curve.doubt is CERTAIN else AVERAGE_SHARE)
        for curve in curves
    ]


def _usable(rows: pl.DataFrame, is_paired: bool) -> pl.DataFrame:
    """The positive times of sizes that both sides have; with pairs, only pairs."""
    has_a, has_b = (pl.col(name).fill_null(0) > 0 for name in ("a_s", "b_s"))
    if is_paired:
        return rows.filter(has_a & has_b)
    return rows.filter(has_a | has_b).filter(has_a.any().over("bytes") & has_b.any().over("bytes"))


def _curve(
    point: dict[str, Any],
    libraries: tuple[str, str],
    rows: pl.DataFrame,
    is_paired: bool,
    doubt: Doubt,
) -> _Curve:
    """A curve with its reported times, from pairs of launches or from those of either side."""
    sizes = rows["bytes"].unique().sort().to_numpy()
    sides = [rows if is_paired else rows.drop_nulls(name) for name in ("a_s", "b_s")]
    a, b = (
        launch_matrix(side, sizes, name) for side, name in zip(sides, ("a_s", "b_s"), strict=True)
    )
    a_s, b_s = launch_intervals(a.T)[0], launch_intervals(b.T)[0]
    if is_paired:
        logs = paired_logs(np.log(b / a), LAUNCHES_MIN)
    else:
        logs = logs_apart(np.log(a), np.log(b), np.log(b_s / a_s), LAUNCHES_MIN)
    logs = replace(logs, fastest_ratio=fastest_ratio(rows, logs.centre_ratio))
    launches = min(len(a), len(b))
    if doubt is CERTAIN and launches < LAUNCHES_MIN:
        doubt = few_launches(launches, LAUNCHES_MIN)
    return _Curve(point, libraries, launches, sizes, a_s, b_s, logs, doubt)


def _judged(curve: _Curve | TailCurve, threshold: float, errors: CurveErrors) -> CurveRatio:
    """The verdict on one curve or tail, from intervals at the errors of the family."""
    logs = zip(*errors.ends(curve.estimates), strict=True)
    level, *ratios = (Ratio(*(math.exp(min(x, LOG_MOST)) for x in row)) for row in logs)
    ratios = ratios or [level]

    def verdict(ratio: Ratio) -> Verdict:
        return ratio.verdict(threshold) if curve.doubt is CERTAIN else "unclear"

    sizes = [
        SizeRatio(int(size), float(a_s), float(b_s), ratio, verdict(ratio))
        for size, a_s, b_s, ratio in zip(
            curve.size_bytes, curve.a_s, curve.b_s, ratios, strict=True
        )
    ]
    differences = [size.verdict for size in sizes if size.verdict in ("slower", "faster")]
    whole = together([verdict(level), *differences])
    doubt = curve.doubt
    if whole == "unclear" and doubt is CERTAIN and not level.is_not_above(threshold):
        doubt = _doubt_of_interval(curve, level, math.log(threshold), errors)
    return CurveRatio(
        curve.point,
        *curve.libraries,
        curve.launches,
        level,
        whole,
        sizes,
        threshold,
        doubt,
        errors.detectable_ratio(curve.estimates),
        QUANTILE if isinstance(curve, TailCurve) else None,
    )


def _doubt_of_interval(
    curve: _Curve | TailCurve, level: Ratio, log_threshold: float, errors: CurveErrors
) -> Doubt:
    """Why an interval decides nothing."""
    if isinstance(curve, TailCurve):
        return wide_interval(curve.launches)
    if curve.logs.is_disturbed:
        return DISTURBED
    return wide_interval(curve.launches, _launches_deciding(curve, level, log_threshold, errors))


def _doubted(curve: CurveRatio, doubt: Doubt) -> CurveRatio:
    """The curve; one that is slower is unclear if there is a doubt about that."""
    if doubt is CERTAIN or curve.worse != "worse":
        return curve
    sizes = [
        replace(size, verdict="unclear") if size.verdict == "slower" else size
        for size in curve.sizes
    ]
    return replace(curve, verdict="unclear", sizes=sizes, doubt=doubt)


def _launches_deciding(
    curve: _Curve, level: Ratio, log_threshold: float, errors: CurveErrors
) -> int | None:
    """The launches with which the level would be slower, or not slower; None if unknown."""
    change = math.log(level.ratio)
    if not np.isfinite(curve.logs.launch_variances).all():
        return None
    is_slower = change > log_threshold
    reach = change if is_slower else log_threshold - change
    error = errors.slower_error if is_slower else errors.not_slower_error
    return curve.logs.launches_deciding(curve.run_share, error, reach)


def launch_matrix(rows: pl.DataFrame, sizes: Floats, column: str) -> Floats:
    """A column as (launches, sizes), NaN if a launch lacks a size.

    Launches that lack more than half of the sizes (cut short) are left out, unless all do.
    """
    launches = rows["launch"].unique().sort().to_numpy()
    matrix = np.full((len(launches), len(sizes)), np.nan)
    row = np.searchsorted(launches, rows["launch"].to_numpy())
    matrix[row, np.searchsorted(sizes, rows["bytes"].to_numpy())] = rows[column].to_numpy()
    whole = (~np.isnan(matrix)).mean(axis=1) >= 0.5
    covered = bool(whole.any()) and bool((~np.isnan(matrix[whole])).any(axis=0).all())
    return matrix[whole] if covered else matrix
