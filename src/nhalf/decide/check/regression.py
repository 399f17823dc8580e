# SPDX-License-Identifier: Apache-2.0
"""Regression tests: the result of a check against an earlier run for every curve, as an effect.

The effect is the ratio of the times of both over all sizes of a curve, with its interval
(decide/compare.py). A regression is a whole curve, or one of its sizes, that is slower than before
by more than the tolerance, with its interval entirely beyond it. A check that found none, but in
which a curve of the earlier run was not measured, is incomplete.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nhalf.decide.check.verdict import Answer, Check, Verdict

Finding = Literal["regression", "incomplete", "unclear", "no regression"]

FINDINGS: Mapping[Verdict, Finding] = {
    "missed": "regression",
    "not measured": "incomplete",
    "unclear": "unclear",
    "met": "no regression",
}


@dataclass(frozen=True)
class Effect:
    """One curve: time now over time before, NaN if it was not measured; its interval."""

    name: str
    value: float
    low: float
    high: float
    finding: Finding
    reason: str = ""

    @property
    def in_words(self) -> str:
        """The change with its interval: '+25.3 % (22.1 to 28.4)'."""
        if math.isnan(self.value):
            return self.reason or "not measured"
        change = f"{(self.value - 1) * 100:+.1f} %"
        if math.isnan(self.low):
            return f"{change} (one launch: no interval)"
        return f"{change} ({(self.low - 1) * 100:+.1f} to {(self.high - 1) * 100:+.1f})"


def effects(check: Check) -> list[Effect]:
    """The effect on every curve of the earlier run, worst first."""
    return [_effect(answer) for answer in check.worst_first() if answer.metric == "time"]


def finding(check: Check) -> Finding:
    """The effect over all curves together."""
    return FINDINGS[check.verdict]


def regression_json(check: Check) -> dict[str, Any]:
    """The output of `nhalf check --against --json` besides the check itself."""
    return {
        "finding": finding(check),
        "effects": [
            {
                "curve": effect.name,
                "ratio": _finite(effect.value),
                "ci": [_finite(effect.low), _finite(effect.high)],
                "finding": effect.finding,
            }
            for effect in effects(check)
        ],
    }


def _effect(answer: Answer) -> Effect:
    """The first point of a curve that was compared is its level over all sizes."""
    whole = answer.points[0].measured
    verdict = FINDINGS[answer.verdict]
    if whole is None:
        return Effect(answer.name, math.nan, math.nan, math.nan, verdict, answer.points[0].reason)
    return Effect(answer.name, whole.median, whole.low, whole.high, verdict)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
