"""Verdicts: one for every point of every expectation, and the worst one overall.

A check against an earlier run is a regression test. The effect is the ratio of the times of both
over all sizes of a curve, with its interval (decide/compare.py). A regression is a curve, at all
sizes or at one, that is slower than before by more than the tolerance, with its interval entirely
beyond it. A check that found none, but in which a curve of the earlier run was not measured, is
incomplete.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import format_number, percent
from nhalf.base.rows import members
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.changes import Comparison, or_least
from nhalf.statistics.doubt import Doubt

if TYPE_CHECKING:
    from nhalf.statistics.intervals import Interval

Verdict = Literal["missed", "not measured", "unclear", "met"]
Unit = Literal["s", "Bps", "bytes", ""]
Kind = Literal["expectations", "baseline", "machine"]

WORST_FIRST: tuple[Verdict, ...] = ("missed", "not measured", "unclear", "met")
FAILURES: tuple[Verdict, ...] = ("missed", "not measured")

ROUNDING = 1e-9
"""Relative rounding error: a machine without noise meets an expectation of exactly its own
time."""

UNCLEAR_MAX = 7
"""By default a week of unclear nights is an alarm."""
UNDECIDED = 4
"""Exit code where nothing failed, but an answer has been unclear for too many runs in a row."""

ONE_LAUNCH = "one launch: there is no interval between launches"


@dataclass(frozen=True)
class Bounds:
    """The allowed range of a value, including the tolerance, in the unit of the value."""

    low: float = 0.0
    high: float = math.inf


@dataclass(frozen=True)
class PointVerdict:
    """One measured value against its bounds.

    `point` holds the columns of the store that identify it; `measured` is None without a value, its
    interval is NaN with too few launches. `reason` is a sentence if the numbers are not enough,
    `remedy` what would decide it; RUN stands in it for the run.
    """

    point: dict[str, Any]
    unit: Unit
    bounds: Bounds
    measured: Interval | None
    verdict: Verdict
    reason: str = ""
    remedy: str = ""

    @property
    def excess_fraction(self) -> float:
        """Excess of the value over its nearest bound, relative to it; negative inside."""
        if self.measured is None:
            return math.nan
        value, bounds = self.measured.median, self.bounds
        above = value / bounds.high - 1 if bounds.high < math.inf else -math.inf
        below = 1 - value / bounds.low if bounds.low > 0 else -math.inf
        return max(above, below)


@dataclass(frozen=True)
class JudgedExpectation:
    """One expectation with the verdict on each of its points; there is at least one.

    `decided` is the verdict of a curve that was compared, whose sizes may each be unclear.
    `unclear_runs` is for how many runs in a row it has been unclear, this one included.
    """

    name: str
    metric: str
    points: tuple[PointVerdict, ...]
    source: str = ""
    decided: Verdict | None = None
    unclear_runs: int = 0

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all its points, unless it was decided by all of them together."""
        return self.decided or worst([point.verdict for point in self.points])

    @property
    def worst_point(self) -> PointVerdict:
        """The decisive point: of those with the verdict, the one farthest beyond its bound."""
        deciding = [point for point in self.points if point.verdict == self.verdict]
        return max(deciding or self.points, key=lambda point: or_least(point.excess_fraction))


@dataclass(frozen=True)
class CheckedRun:
    """The answers for one run. `confidence` is that of all intervals jointly.

    `comparison` is that with an earlier run or with a model. An answer that is unclear for
    `unclear_max` runs in a row is an alarm; 0: never.
    """

    kind: Kind
    confidence: float
    answers: tuple[JudgedExpectation, ...]
    not_compared: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    comparison: Comparison | None = None
    unclear_max: int = 0

    @property
    def verdict(self) -> Verdict:
        """The worst verdict; "not measured" without answers."""
        return worst([answer.verdict for answer in self.answers])

    def exit_code(self, strict: bool) -> int:
        """What a script learns: 0, 1 for a failure, UNDECIDED if there is none."""
        failing = [answer for answer in self.answers if self.fails(answer, strict)]
        if not failing:
            return 0 if self.answers else 1
        return UNDECIDED if not strict and all(map(self.is_undecided, failing)) else 1

    def fails(self, answer: JudgedExpectation, strict: bool) -> bool:
        """Whether one of its answers is a failure: unclear ones if `strict`, or for too long."""
        is_unclear = answer.verdict == "unclear" and (strict or self.is_undecided(answer))
        return answer.verdict in FAILURES or is_unclear

    def is_undecided(self, answer: JudgedExpectation) -> bool:
        """Whether an answer has been unclear for too many runs in a row."""
        return answer.unclear_runs >= (self.unclear_max or math.inf)

    def worst_first(self) -> list[JudgedExpectation]:
        """The answers in reading order."""

        def rank(answer: JudgedExpectation) -> tuple[int, float]:
            excess = or_least(answer.worst_point.excess_fraction)
            return WORST_FIRST.index(answer.verdict), -excess

        return sorted(self.answers, key=rank)

    def counts(self) -> dict[Verdict, int]:
        """The number of expectations with each verdict."""
        verdicts = [answer.verdict for answer in self.answers]
        return {verdict: verdicts.count(verdict) for verdict in WORST_FIRST}

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf check --json`; missing bounds and intervals are null."""
        return {
            **members(self, "verdict", "kind", "confidence"),
            "counts": self.counts(),
            "expectations": [
                {
                    **members(answer, "name", "source", "metric", "verdict", "unclear_runs"),
                    "points": [_point_json(point) for point in answer.points],
                }
                for answer in self.worst_first()
            ],
            "not_compared": list(self.not_compared),
            "notes": list(self.notes),
        }


def worst(verdicts: list[Verdict]) -> Verdict:
    """The worst of several verdicts; "not measured" for none."""
    return min(verdicts, key=WORST_FIRST.index, default="not measured")


def judge(point: dict[str, Any], unit: Unit, bounds: Bounds, measured: Interval) -> PointVerdict:
    """Met if the interval lies inside the bounds, missed if it lies outside.

    An interval that straddles a bound is unclear, as is a value without an interval.
    """
    if math.isnan(measured.low) or math.isnan(measured.high):
        return PointVerdict(point, unit, bounds, measured, "unclear", ONE_LAUNCH)
    low, high = bounds.low * (1 - ROUNDING), bounds.high * (1 + ROUNDING)
    verdict: Verdict = "unclear"
    if measured.low > high or measured.high < low:
        verdict = "missed"
    elif measured.low >= low and measured.high <= high:
        verdict = "met"
    return PointVerdict(point, unit, bounds, measured, verdict)


def format_value(value: float, unit: Unit) -> str:
    """A value in readable form, with its unit."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if unit == "s":
        return format_time(value)
    if unit == "Bps":
        return format_rate(value)
    return format_size(round(value)) if unit == "bytes" else format_number(value, 4)


def format_bounds(bounds: Bounds, unit: Unit) -> str:
    """'≤ 3 µs', '≥ 1.2 GB/s' or '1 µs to 3 µs'."""
    low, high = format_value(bounds.low, unit), format_value(bounds.high, unit)
    if bounds.low > 0 and bounds.high < math.inf:
        return f"{low} to {high}"
    return f"≤ {high}" if bounds.high < math.inf else f"≥ {low}"


def format_excess(point: PointVerdict) -> str:
    """'12 % too slow', '5 % too low', '8 % to spare', or '' without a value."""
    excess, measured = point.excess_fraction, point.measured
    if measured is None or not math.isfinite(excess):
        return ""
    size = abs(excess)
    share = f"{format_number(size * 100, 2)} %" if size < 0.995 else percent(size)
    if excess <= ROUNDING:
        return f"{share} to spare" if excess < -ROUNDING else "just so"
    if measured.median < point.bounds.low:
        return f"{share} too low"
    return f"{share} too slow" if point.unit == "s" else f"{share} too high"


def format_place(point: dict[str, Any]) -> str:
    """The point in words: 'pingpong, mpich, 2 ranks, cores, 8 KiB'; columns may be left out."""
    ranks = ranks_text(point["ranks"]) if "ranks" in point else ""
    words = [point.get("pattern"), point.get("mpi") or point.get("transport"), ranks]
    size = format_size(point["bytes"]) if "bytes" in point else ""
    words += [point.get("placement"), point.get("axes"), size]
    return ", ".join(str(word) for word in words if word)


def _point_json(point: PointVerdict) -> dict[str, Any]:
    """Numbers that are not finite become null on output."""
    measured, bounds = point.measured, point.bounds
    return {
        **point.point,
        "unit": point.unit,
        "at_least": bounds.low or None,
        "at_most": bounds.high,
        "measured": None if measured is None else measured.median,
        "ci": None if measured is None else [measured.low, measured.high],
        "excess": point.excess_fraction,
        "verdict": point.verdict,
        "reason": point.reason,
    }


Finding = Literal["regression", "incomplete", "unclear", "no regression"]

FINDINGS: Mapping[Verdict, Finding] = {
    "missed": "regression",
    "not measured": "incomplete",
    "unclear": "unclear",
    "met": "no regression",
}


def finding(check: CheckedRun) -> Finding:
    """The effect over all curves together."""
    return FINDINGS[check.verdict]


def open_curves(check: CheckedRun) -> list[tuple[str, Doubt]]:
    """The curves about which nothing is known, each with the reason."""
    return [
        (answer.name, Doubt(answer.points[0].reason, answer.points[0].remedy))
        for answer in _curves(check)
        if answer.verdict == "unclear" and answer.points[0].measured is None
    ]


def unmeasured(check: CheckedRun) -> list[str]:
    """The names of the curves of the earlier run that were not measured."""
    return [answer.name for answer in _curves(check) if answer.verdict == "not measured"]


def regression_json(check: CheckedRun) -> dict[str, Any]:
    """The output of `nhalf check --against --json` besides the check itself."""
    return {"finding": finding(check), "effects": [_effect_json(a) for a in _curves(check)]}


def _curves(check: CheckedRun) -> list[JudgedExpectation]:
    """The answers on curves, worst first."""
    return [answer for answer in check.worst_first() if answer.metric in ("time", "tail")]


def _effect_json(answer: JudgedExpectation) -> dict[str, Any]:
    """A curve: its level over all sizes, and the point that decided."""
    from nhalf.statistics.intervals import Interval

    level, worst = answer.points[0], answer.worst_point
    whole = level.measured or Interval(math.nan, math.nan, math.nan)
    return {
        "curve": answer.name,
        "ratio": whole.median,
        "ci": [whole.low, whole.high],
        "finding": FINDINGS[answer.verdict],
        "decided_at_bytes": worst.point.get("bytes") if answer.verdict == "missed" else None,
        "reason": worst.reason,
        "remedy": worst.remedy,
    }
