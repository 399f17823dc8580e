"""The verdict on a change, of a size, of a curve and of a whole comparison.

`compare`, `check --against`, `run --like` and `history` share it. It follows from the interval that
is printed beside it, and where evidence is lacking it is "unclear", with the reason and a remedy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from nhalf.base.numbers import percent, says_nothing
from nhalf.base.rows import members
from nhalf.statistics.doubt import CERTAIN, Doubt

Verdict = Literal["slower", "faster", "mixed", "equal", "unclear"]
Worse = Literal["worse", "not worse", "unclear"]
ROUNDING = 1e-9
"""Relative rounding error: a machine without noise is exactly as fast as itself."""


@dataclass(frozen=True)
class Ratio:
    """Time of B over time of A with its interval (NaN if launches are too few for one)."""

    ratio: float
    low: float
    high: float

    def verdict(self, threshold: float) -> Verdict:
        """Slower if the whole interval is, and the reported change is beyond the tolerance.

        Equal if the interval lies within the tolerance, `threshold` as a ratio. An interval so wide
        that its ends say nothing decides nothing.
        """
        if math.isnan(self.low) or says_nothing(self.low, self.high):
            return "unclear"
        if self.low > 1 + ROUNDING and self.ratio > threshold * (1 + ROUNDING):
            return "slower"
        if self.high < 1 - ROUNDING and self.ratio < (1 - ROUNDING) / threshold:
            return "faster"
        return (
            "equal" if self.is_not_above(threshold) and self.is_not_below(threshold) else "unclear"
        )

    def is_not_above(self, threshold: float) -> bool:
        """Whether the whole interval lies within the tolerance upwards."""
        return self.high <= threshold * (1 + ROUNDING)

    def is_not_below(self, threshold: float) -> bool:
        """Whether the whole interval lies within the tolerance downwards."""
        return self.low >= (1 - ROUNDING) / threshold


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
    """One pattern of one library (or pair of libraries) over all sizes measured on both sides.

    `ratio` is the level over all sizes. With `quantile_share`, times are means of the samples
    beyond it: the curve's tail (tail_ratios.py). `doubt` is why the verdict is "unclear",
    `detectable_ratio` the smallest slow-down of the level that would show, NaN where that is
    unknown.
    """

    point: dict[str, Any]
    mpi_a: str
    mpi_b: str
    launches: int
    ratio: Ratio
    verdict: Verdict
    sizes: list[SizeRatio]
    threshold: float
    doubt: Doubt = CERTAIN
    detectable_ratio: float = math.nan
    quantile_share: float | None = None

    @property
    def mpi(self) -> str:
        """The library's name, or both."""
        return self.mpi_a if self.mpi_a == self.mpi_b else f"{self.mpi_a},{self.mpi_b}"

    @property
    def worse(self) -> Worse:
        """Whether B is slower than A; a curve that is faster at some size only may be unclear."""
        return "worse" if self.verdict in ("slower", "mixed") else self.worse_at(self.ratio)

    @property
    def title(self) -> str:
        """The library's name, or 'A → B'."""
        return self.mpi.replace(",", " → ")

    def worse_at(self, ratio: Ratio) -> Worse:
        """Whether B is slower by the ratio of this curve, or of one of its sizes."""
        if self.doubt.is_general:
            return "unclear"
        if ratio.verdict(self.threshold) == "slower":
            return "worse"
        return "not worse" if ratio.is_not_above(self.threshold) else "unclear"

    @property
    def decisive(self) -> SizeRatio | None:
        """The size at which the difference is certain to be largest; None for the level."""
        slower = self.verdict != "faster"
        kind = "slower" if self.verdict == "mixed" else self.verdict
        if kind not in ("slower", "faster"):
            return self.sizes[0] if len(self.sizes) == 1 else None
        differing = [size for size in self.sizes if size.verdict == kind]
        if not differing:
            return None
        extreme = max(differing, key=lambda size: least(size.ratio, slower))
        is_level = self.ratio.verdict(self.threshold) == kind and (
            least(self.ratio, slower) >= least(extreme.ratio, slower)
        )
        return None if is_level and len(self.sizes) > 1 else extreme

    @property
    def shown(self) -> Ratio:
        """The ratio that decided, which is shown beside the verdict."""
        return self.decisive.ratio if self.decisive else self.ratio

    @property
    def evidence(self) -> float:
        """The logarithm of the difference that is certain, by which curves are ordered."""
        return least(self.shown, self.verdict != "faster")


@dataclass(frozen=True)
class Comparison:
    """All curves that A and B share, and those that they do not.

    `confidence` is that of all intervals of the night. `notes` are sentences on omitted launches.
    `tails` are the curves' slowest samples: only those that are longer than before count.
    """

    threshold: float
    confidence: float
    curves: list[CurveRatio]
    not_comparable: list[dict[str, Any]]
    notes: tuple[str, ...] = ()
    tails: tuple[CurveRatio, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The overall verdict: a slow-down anywhere counts, in medians or in tails."""
        medians = together([curve.verdict for curve in self.curves])
        if not self.longer_tails or medians in ("slower", "mixed"):
            return medians
        return "mixed" if medians == "faster" else "slower"

    @property
    def longer_tails(self) -> list[CurveRatio]:
        """The tails that grew, whatever the medians did; the surest first."""
        grown = [tail for tail in self.tails if tail.worse == "worse"]
        return sorted(grown, key=lambda tail: -or_least(tail.evidence))

    @property
    def detectable_ratio(self) -> float:
        """The slow-down of a whole curve that half of the curves would tell from none; NaN where
        no curve has an interval.
        """
        ratios = [curve.detectable_ratio for curve in self.curves]
        return (
            median(filter(math.isfinite, ratios)) if any(map(math.isfinite, ratios)) else math.nan
        )

    @property
    def regressed(self) -> bool:
        """Whether B is slower than A somewhere."""
        return any(curve.worse == "worse" for curve in (*self.curves, *self.tails))

    def by_evidence(self) -> list[CurveRatio]:
        """The curves in reading order: slower ones first, by what is certain of them."""
        order = ("slower", "mixed", "faster", "equal", "unclear")
        rank = {"mixed": 0, **{name: place for place, name in enumerate(order) if name != "mixed"}}

        def key(curve: CurveRatio) -> tuple[int, float]:
            return rank[curve.verdict], -or_least(curve.evidence)

        return sorted(self.curves, key=key)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf compare --json`; an unknown interval is null."""
        return {
            **members(self, "verdict", "threshold", "confidence", "detectable_ratio"),
            "patterns": [_curve_json(curve) for curve in self.curves],
            "tails": [
                {"quantile": tail.quantile_share, **_curve_json(tail)} for tail in self.tails
            ],
            "not_comparable": self.not_comparable,
        }


def tail_name(quantile: float | None) -> str:
    """'slowest 1 %', what a tail is called beside its curve; '' for the curve itself."""
    return "" if quantile is None else f"slowest {percent(1 - quantile, None)}"


def least(ratio: Ratio, slower: bool) -> float:
    """The logarithm of the difference that the interval leaves at least; NaN without one."""
    end = ratio.low if slower else 1 / ratio.high if ratio.high else math.nan
    return math.log(end) if end > 0 else math.nan


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict from several: any difference counts, and equal means equal everywhere."""
    kinds = set(verdicts)
    if "mixed" in kinds or {"slower", "faster"} <= kinds:
        return "mixed"
    for kind in ("slower", "faster"):
        if kind in kinds:
            return kind
    return "equal" if kinds == {"equal"} else "unclear"


def or_least(value: float) -> float:
    """The value, minus infinity for NaN."""
    return -math.inf if math.isnan(value) else value


def _curve_json(curve: CurveRatio) -> dict[str, Any]:
    """A curve in the output of `nhalf compare --json`."""
    return {
        **curve.point,
        "mpi": curve.mpi,
        "launches": curve.launches,
        "ratio": curve.ratio.ratio,
        "ci": [curve.ratio.low, curve.ratio.high],
        "verdict": curve.verdict,
        "decided_at_bytes": curve.decisive.size_bytes if curve.decisive else None,
        "reason": curve.doubt.reason,
        "remedy": curve.doubt.remedy,
        "sizes": [
            {
                "bytes": size.size_bytes,
                "a_s": size.a_s,
                "b_s": size.b_s,
                "ratio": size.ratio.ratio,
                "ci_low": size.ratio.low,
                "ci_high": size.ratio.high,
                "verdict": size.verdict,
            }
            for size in curve.sizes
        ],
    }
