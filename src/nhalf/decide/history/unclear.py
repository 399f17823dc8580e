"""For how many of the last runs each curve is unclear against the first, as `check` counts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nhalf.base.errors import InputError
from nhalf.decide.check.expected import check
from nhalf.decide.check.unclear_runs import counted, subject
from nhalf.decide.check.verdict import CheckedRun
from nhalf.facts.facts import Facts
from nhalf.store.keys import CURVE
from nhalf.store.run import Run

RUNS_MAX = 31
"""No more runs are counted: a month of nights."""


class UnclearRuns:
    """The number of runs in a row, up to the last, by curve; `runs` are in order of time."""

    def __init__(self, runs: Sequence[Run]) -> None:
        checks = _checks(runs[0], runs[:0:-1])
        last = next(checks, None)
        answers = counted(last, checks, RUNS_MAX).answers if last else ()
        self._runs = {subject("baseline", answer): answer.unclear_runs for answer in answers}

    def of(self, curve: dict[str, Any]) -> int:
        """That of a curve, whose `mpi` is without a version; 0 for one that was decided."""
        return self._runs.get(tuple(curve[name] for name in CURVE), 0)


def _checks(first: Run, later: Sequence[Run]) -> Iterator[CheckedRun]:
    for run in later:
        try:
            yield check(Facts.of([run]), str(first.path))
        except InputError:  # nothing in common with the first
            continue
