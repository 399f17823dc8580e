"""Answers that stay unclear, run after run: counted, and said on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.base.listing import few

if TYPE_CHECKING:
    from nhalf.decide.check.verdict import CheckedRun
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
    from nhalf.decide.check.unclear_runs import counted, runs_before

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
