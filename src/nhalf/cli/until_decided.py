"""`nhalf run --like RUN --until-decided TIME`: unclear curves go on until they are decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nhalf.decide.check.verdict import CheckedRun
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.session import More
    from nhalf.store.run import Run

CURVE = ("pattern", "algorithm", "ranks", "placement", "axes")


def until_decided(
    outcome: RunOutcome,
    time_s: float,
    check_of: Callable[[Run], CheckedRun],
    extended: Callable[[Run, More], RunOutcome],
) -> tuple[RunOutcome, CheckedRun]:
    """A run that ended and its check, or the run `extended` until its check is decided.

    It is looked at as decide/interim_analyses.py says, for up to `time_s` seconds more.
    """
    from nhalf.decide.interim_analyses import analysis_budgets_s
    from nhalf.measure.loop.session import More

    change = check_of(outcome.run)
    for budget_s in analysis_budgets_s(time_s):
        curves = open_curves(change)
        if not curves:
            break
        outcome = extended(outcome.run, More(budget_s=budget_s, curves=curves))
        change = check_of(outcome.run)
    return outcome, change


def open_curves(check: CheckedRun) -> list[dict[str, Any]]:
    """The unclear curves of a check that further launches of this run may decide.

    That they cannot is believed from MORE_LAUNCHES on. None where something is slower: the check is
    decided then.
    """
    from nhalf.statistics.doubt import MORE_LAUNCHES

    if check.comparison is None or check.verdict != "unclear":
        return []
    unclear = {
        tuple(curve.point[name] for name in CURVE)
        for curve in check.comparison.curves
        if curve.worse == "unclear"
        and (curve.doubt.wants_launches or curve.launches < MORE_LAUNCHES)
    }
    return [dict(zip(CURVE, key, strict=True)) for key in sorted(unclear)]
