"""Regression tests: the result of a check against an earlier run for every curve, as an effect.

The effect is the ratio of the times of both over all sizes of a curve, with its interval
(decide/compare.py). A regression is a curve, at all sizes or at one, that is slower than before by
more than the tolerance, with its interval entirely beyond it. A check that found none, but in
which a curve of the earlier run was not measured, is incomplete.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from nhalf.decide.check.verdict import CheckedRun, JudgedExpectation, Verdict
from nhalf.statistics.doubt import Doubt
from nhalf.statistics.intervals import Interval

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
    return [answer for answer in check.worst_first() if answer.metric == "time"]


def _effect_json(answer: JudgedExpectation) -> dict[str, Any]:
    """A curve: its level over all sizes, and the point that decided."""
    level, worst = answer.points[0], answer.worst_point
    whole = level.measured or Interval(math.nan, math.nan, math.nan)
    return {
        "curve": answer.name,
        "ratio": _finite(whole.median),
        "ci": [_finite(whole.low), _finite(whole.high)],
        "finding": FINDINGS[answer.verdict],
        "decided_at_bytes": worst.point.get("bytes") if answer.verdict == "missed" else None,
        "reason": worst.reason,
        "remedy": worst.remedy,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
