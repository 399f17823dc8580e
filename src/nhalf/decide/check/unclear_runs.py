"""For how many runs in a row an answer has been unclear: a check that never decides is no guard.

No verdict is kept: earlier runs are checked again, the latest first, until each answer that is
unclear now was decided in one of them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from nhalf.base.errors import InputError
from nhalf.decide.check.expected import check
from nhalf.decide.check.verdict import CheckedRun, JudgedExpectation, Kind
from nhalf.facts.facts import Facts
from nhalf.store.keys import CURVE
from nhalf.store.run import DESCRIPTION, Run

FAMILY = re.compile(r"^(.+?)-v?\d[^+]*")
"""A library's name without its version."""


def counted(check: CheckedRun, earlier: Iterable[CheckedRun], runs_max: int) -> CheckedRun:
    """The check, its unclear answers with the number of runs in a row that left them unclear.

    `earlier` are checks against the same expectations, the latest run first; they are asked for no
    longer than the numbers can grow, and up to `runs_max` runs. An answer that one of them lacks,
    or did not measure, is counted as if that run did not exist.
    """
    runs = {
        subject(check.kind, answer): 1 for answer in check.answers if answer.verdict == "unclear"
    }
    growing = set(runs)
    earlier_checks = iter(earlier)
    while any(runs[key] < runs_max for key in growing) and (former := next(earlier_checks, None)):
        verdicts = {subject(former.kind, answer): answer.verdict for answer in former.answers}
        growing -= {key for key in growing if verdicts.get(key) in ("met", "missed")}
        for key in growing:
            runs[key] += verdicts.get(key) == "unclear"
    answers = (
        replace(answer, unclear_runs=runs.get(subject(check.kind, answer), 0))
        for answer in check.answers
    )
    return replace(check, answers=tuple(answers))


def subject(kind: Kind, answer: JudgedExpectation) -> tuple[Any, ...]:
    """What an answer is about, whatever the version of the library: a promise, or a curve."""
    point = answer.points[0].point
    if kind == "expectations" or answer.metric == "tail" or not set(CURVE) <= set(point):
        return (answer.name,)
    curve = {**point, "mpi": FAMILY.sub(r"\1", point["mpi"] or "")}
    return tuple(curve[name] for name in CURVE)


def runs_before(run: Run, baseline: Run | None) -> Iterator[Run]:
    """The runs in the folder of a run that began before it, the latest first.

    None is older than the baseline: with a new one, counting begins again. What cannot be read is
    left out.
    """
    began_s = _started_s(run)
    since_s = 0.0 if baseline is None else _started_s(baseline)
    starts: list[tuple[float, str, Run]] = []
    for description in run.path.resolve().parent.glob(f"*/{DESCRIPTION}"):
        try:
            candidate = Run.open(description.parent)
            candidate.check()
        except InputError:
            continue
        starts.append((_started_s(candidate), candidate.path.name, candidate))
    for started_s, name, former in sorted(starts, key=lambda start: start[:2], reverse=True):
        is_baseline = baseline is not None and former.path.resolve() == baseline.path.resolve()
        is_before = (started_s, name) < (began_s, run.path.resolve().name)
        if is_before and started_s >= since_s and not is_baseline:
            yield former


def _started_s(run: Run) -> float:
    started_s = run.measurements().select(pl.col("started_s").min()).collect().item()
    return float(started_s or 0.0)


RUNS_MAX = 31
"""No more runs are counted: a month of nights."""


def unclear_by_curve(runs: Sequence[Run]) -> dict[tuple[Any, ...], int]:
    """For how many runs in a row, up to the last, curves are unclear against the first run.

    `runs` are in order of time; a curve is the values of CURVE, its library without a version.
    """
    checks = _checks(runs[0], runs[:0:-1])
    last = next(checks, None)
    answers = counted(last, checks, RUNS_MAX).answers if last else ()
    return {subject("baseline", answer): answer.unclear_runs for answer in answers}


def _checks(first: Run, later: Sequence[Run]) -> Iterator[CheckedRun]:
    for run in later:
        try:
            yield check(Facts.of([run]), str(first.path))
        except InputError:  # nothing in common with the first
            continue
