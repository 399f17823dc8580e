# SPDX-License-Identifier: Apache-2.0
"""Is B slower than A? Paired by launches, with few false alarms over a whole curve.

Launch k of every library ran in the same round, so a disturbance of the machine affected both: the
logarithm of the ratio of their launch medians is the datum, one per launch and size,

    d(k, n) = log B(k, n) - log A(k, n) = effect(n) + launch(k) + noise(k, n)

- The *level* of a launch is the interquartile mean of d over sizes: a launch-wide shift is seen
  in it, a few odd sizes are not. The curve's ratio is the mean level, its interval Student's.
- At one size the interval has two parts: that of the level (few launches, few degrees of
  freedom) and that of the size's deviations from the level, whose variances are moderated over
  sizes (Smyth 2004); they are combined by Satterthwaite's formula (Biometrics Bulletin 2, 1946).
- All intervals of a curve hold jointly: Bonferroni over its sizes. A verdict is given if an
interval excludes the threshold, so a false alarm anywhere on a curve has at most the probability
  1 - confidence, half of it on the slow side of the level and half on that of the sizes.

Two runs are paired by launch number in the same way; between two runs that were not interleaved, a
change of the machine cannot be distinguished from a change of the libraries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.decide.ratio_intervals import CONFIDENCE, ratio_intervals
from nhalf.statistics.intervals import Floats, launch_intervals
from nhalf.store.keys import COMPARED_CURVE, COMPARED_POINT

Verdict = Literal["slower", "faster", "mixed", "equal", "unclear"]

THRESHOLD = 1.02


@dataclass(frozen=True)
class Ratio:
    """Time of B over time of A with its interval (NaN if launches are too few for one)."""

    ratio: float
    low: float
    high: float

    def verdict(self, threshold: float) -> Verdict:
        """Slower or faster if the interval excludes the threshold, equal if it lies inside."""
        if self.low > threshold:
            return "slower"
        if self.high < 1 / threshold:
            return "faster"
        inside = self.low >= 1 / threshold and self.high <= threshold
        return "equal" if inside else "unclear"


@dataclass(frozen=True)
class SizeRatio:
    """One size: the reported times of both, their ratio and the verdict."""

    size_bytes: int
    a_s: float
    b_s: float
    ratio: Ratio
    verdict: Verdict


@dataclass(frozen=True)
class CurveRatio:
    """One pattern of one library (or pair of libraries) over all sizes measured on both sides."""

    point: dict[str, Any]
    mpi_a: str
    mpi_b: str
    launches: int
    ratio: Ratio
    verdict: Verdict
    sizes: list[SizeRatio]

    @property
    def mpi(self) -> str:
        """The library's name, or both."""
        return self.mpi_a if self.mpi_a == self.mpi_b else f"{self.mpi_a},{self.mpi_b}"


@dataclass(frozen=True)
class Comparison:
    """All curves that A and B share, and those that they do not."""

    threshold: float
    confidence: float
    curves: list[CurveRatio]
    not_comparable: list[dict[str, Any]]

    @property
    def verdict(self) -> Verdict:
        """The overall verdict: a slow-down anywhere counts."""
        return _together([curve.verdict for curve in self.curves])

    @property
    def regressed(self) -> bool:
        """Whether B is slower than A somewhere."""
        return self.verdict in ("slower", "mixed")

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf compare --json`; an unknown interval is null."""
        return {
            "verdict": self.verdict,
            "threshold": self.threshold,
            "confidence": self.confidence,
            "patterns": [_curve_json(curve) for curve in self.curves],
            "not_comparable": self.not_comparable,
        }


def compare(
    a: pl.DataFrame,
    b: pl.DataFrame,
    *,
    libraries: Sequence[tuple[str, str]] | None = None,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compare launch medians of A and B (columns of `launch_medians`, one run each).

    `libraries` pairs names of A with names of B; by default equal names, or the only one of each.
    `names` are what messages call A and B.
    Raises InputError if nothing can be compared or the threshold is below 1.
    """
    if not (math.isfinite(threshold) and threshold >= 1):
        raise InputError(f"threshold {threshold} is not a ratio above 1", "1.02 means 2 % slower")
    pairs = libraries if libraries is not None else pair_libraries(a, b)
    curves: list[CurveRatio] = []
    missing: list[dict[str, Any]] = []
    for mpi_a, mpi_b in pairs:
        a_rows = a.filter(pl.col("mpi") == mpi_a)
        b_rows = b.filter(pl.col("mpi") == mpi_b)
        for point, joined in _curves(a_rows, b_rows):
            missing += _missing(point, (mpi_a, mpi_b), joined)
            paired = joined.drop_nulls(["a_s", "b_s"]).filter(
                (pl.col("a_s") > 0) & (pl.col("b_s") > 0)
            )
            if not paired.is_empty():
                curves.append(_compare_curve(point, (mpi_a, mpi_b), paired, threshold, confidence))
    if not curves:
        raise InputError(
            f"{names[0]} and {names[1]} have no launch of a common pattern and size",
            "compare runs of the same patterns and sizes; pair libraries of different names with "
            "RUN:LIBRARY, e.g. runs/today:openmpi",
        )
    return Comparison(threshold, confidence, curves, missing)


def pair_libraries(a: pl.DataFrame, b: pl.DataFrame) -> list[tuple[str, str]]:
    """Pair equal names in A and B; if there is none and each has one library, pair these two."""
    a_names, b_names = (sorted(frame["mpi"].unique().to_list()) for frame in (a, b))
    common = [(name, name) for name in a_names if name in b_names]
    if not common and len(a_names) == len(b_names) == 1:
        return [(a_names[0], b_names[0])]
    return common


def _curves(a: pl.DataFrame, b: pl.DataFrame) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Every curve of A or B with the times of both: columns bytes, launch, a_s, b_s."""
    on = [*COMPARED_POINT, "launch"]
    joined = (
        a.select(*on, a_s="median_s")
        .join(b.select(*on, b_s="median_s"), on=on, how="full", coalesce=True, nulls_equal=True)
        .sort(on)
    )
    for _, rows in joined.group_by(COMPARED_CURVE, maintain_order=True):
        yield rows.select(COMPARED_CURVE).row(0, named=True), rows


def _missing(
    point: dict[str, Any], libraries: tuple[str, str], rows: pl.DataFrame
) -> list[dict[str, Any]]:
    """Sizes of a curve that cannot be compared, by reason."""
    sizes = rows.group_by("bytes").agg(
        a=pl.col("a_s").is_not_null().any(),
        b=pl.col("b_s").is_not_null().any(),
        both=(pl.col("a_s").is_not_null() & pl.col("b_s").is_not_null()).any(),
        zero=(pl.col("a_s").eq(0) | pl.col("b_s").eq(0)).any(),
    )
    reasons = {
        "only in A": pl.col("a") & ~pl.col("b"),
        "only in B": pl.col("b") & ~pl.col("a"),
        "no launch in common": pl.col("a") & pl.col("b") & ~pl.col("both"),
        "a time of 0": pl.col("both") & pl.col("zero"),
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


def _compare_curve(
    point: dict[str, Any],
    libraries: tuple[str, str],
    rows: pl.DataFrame,
    threshold: float,
    confidence: float,
) -> CurveRatio:
    """The verdict on one curve; `rows` has bytes, launch, a_s and b_s, both positive."""
    sizes = rows["bytes"].unique().sort().to_numpy()
    a, b = (launch_matrix(rows, sizes, name) for name in ("a_s", "b_s"))
    level, by_size = ratio_intervals(np.log(b / a), confidence)
    curve = Ratio(*(math.exp(x) for x in level))
    a_s, b_s = (launch_intervals(matrix.T)[0] for matrix in (a, b))
    ratios = [Ratio(*(math.exp(x) for x in row)) for row in zip(*by_size, strict=True)]
    size_ratios = [
        SizeRatio(int(size), float(a_s[i]), float(b_s[i]), ratios[i], ratios[i].verdict(threshold))
        for i, size in enumerate(sizes)
    ]
    differences: list[Verdict] = [
        s.verdict for s in size_ratios if s.verdict in ("slower", "faster")
    ]
    verdict = _together([curve.verdict(threshold), *differences])
    return CurveRatio(point, *libraries, len(a), curve, verdict, size_ratios)


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


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict from several: any difference counts, and equal means equal everywhere."""
    kinds = set(verdicts)
    if "mixed" in kinds or {"slower", "faster"} <= kinds:
        return "mixed"
    for kind in ("slower", "faster"):
        if kind in kinds:
            return kind
    return "equal" if kinds == {"equal"} else "unclear"


def _curve_json(curve: CurveRatio) -> dict[str, Any]:
    """A curve in the output of `nhalf compare --json`."""
    return {
        **curve.point,
        "mpi": curve.mpi,
        "launches": curve.launches,
        "ratio": _finite(curve.ratio.ratio),
        "ci": [_finite(curve.ratio.low), _finite(curve.ratio.high)],
        "verdict": curve.verdict,
        "sizes": [
            {
                "bytes": size.size_bytes,
                "a_s": size.a_s,
                "b_s": size.b_s,
                "ratio": size.ratio.ratio,
                "ci_low": _finite(size.ratio.low),
                "ci_high": _finite(size.ratio.high),
                "verdict": size.verdict,
            }
            for size in curve.sizes
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
