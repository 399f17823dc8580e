"""Answers that stay unclear, run after run: counted, and said on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from nhalf.base.errors import InputError
from nhalf.base.listing import few
from nhalf.cli.lazy import lazily
from nhalf.statistics.doubt import MORE_LAUNCHES

with lazily(globals()):
    from nhalf.decide.check.unclear_runs import counted, runs_before
    from nhalf.decide.check.verdict import CheckedRun
    from nhalf.decide.interim_analyses import analysis_budgets_s
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.session import More
    from nhalf.store.run import Run


def with_unclear_runs(
    result: CheckedRun,
    run: Run,
    baseline: Run | None,
    runs_max: int,
    check_of: Callable[[Run], CheckedRun],
) -> CheckedRun:
    """The check of a run with the number of runs in a row for which its answers are unclear.

    `check_of` checks an earlier run of its folder in the same way, and raises InputError for one
    that measured something else. With `runs_max` 0 nothing is counted.
    """
    if not runs_max:
        return result

    def earlier() -> Iterator[CheckedRun]:
        for former in runs_before(run, baseline):
            try:
                yield check_of(former)
            except InputError:
                continue

    return replace(counted(result, earlier(), runs_max), unclear_max=runs_max)


def announce_undecided(result: CheckedRun) -> None:
    """Say on standard error what has been unclear for too long, and what to do about it."""
    names = [answer.name for answer in result.answers if result.is_undecided(answer)]
    if names:
        sys.stderr.write(
            f"nhalf: unclear for {result.unclear_max} runs in a row: "
            f"{few(names, 3, '; ')}; measure with more launches and on a quiet machine, or raise "
            "--tolerance\n"
        )


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
    if check.comparison is None or check.verdict != "unclear":
        return []
    unclear = {
        tuple(curve.point[name] for name in CURVE)
        for curve in check.comparison.curves
        if curve.worse == "unclear"
        and (curve.doubt.wants_launches or curve.launches < MORE_LAUNCHES)
    }
    return [dict(zip(CURVE, key, strict=True)) for key in sorted(unclear)]
