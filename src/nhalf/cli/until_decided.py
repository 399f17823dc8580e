# SPDX-License-Identifier: Apache-2.0
"""`nhalf run --like RUN --until-decided TIME`: unclear curves go on until they are decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nhalf.base.units import format_duration

if TYPE_CHECKING:
    from nhalf.decide.check.verdict import Check
    from nhalf.measure.loop.ending import Outcome
    from nhalf.measure.loop.session import More, Prepared
    from nhalf.store.run import Run

CURVE = ("pattern", "algorithm", "ranks", "placement", "axes")


@dataclass(frozen=True)
class GoingOn:
    """How a run goes on: `extended` adds time for some curves, `measured` measures them.

    `say` prints a line about it.
    """

    extended: Callable[[Run, More], Prepared]
    measured: Callable[[Prepared], Outcome]
    check_of: Callable[[Run], Check]
    say: Callable[[str], object]

    def until_decided(self, outcome: Outcome, time_s: float) -> tuple[Outcome, Check]:
        """The run and its check when that is decided, or when the time is spent.

        Looks at it as decide/looks.py says.
        """
        from nhalf.decide.looks import look_budgets_s
        from nhalf.measure.loop.session import More
        from nhalf.present.wording import count

        change = self.check_of(outcome.run)
        for budget_s in look_budgets_s(time_s):
            curves = open_curves(change)
            if not curves:
                break
            unclear = count(len(curves), "unclear curve")
            self.say(f"measuring {unclear} for another {format_duration(budget_s)}")
            more = More(budget_s=budget_s, curves=curves)
            outcome = self.measured(self.extended(outcome.run, more))
            change = self.check_of(outcome.run)
        return outcome, change


def open_curves(check: Check) -> list[dict[str, Any]]:
    """The unclear curves of a check that further launches of this run may decide.

    That they cannot is believed from MORE_LAUNCHES on. None where something is slower: the check is
    decided then.
    """
    from nhalf.statistics.doubt import MORE_LAUNCHES

    comparison = check.comparison
    if comparison is None or check.verdict != "unclear":
        return []
    curves = [
        _key(curve.point)
        for curve in comparison.curves
        if curve.worse == "unclear"
        and (curve.doubt.wants_launches or curve.launches < MORE_LAUNCHES)
    ]
    return [curve for number, curve in enumerate(curves) if curve not in curves[:number]]


def _key(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: point[name] for name in CURVE}
