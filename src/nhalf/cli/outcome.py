"""How a run ended: its tables and remarks, and answers that stay unclear, run after run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nhalf.base.errors import FailedError, InputError, Interrupted, how_ended
from nhalf.base.listing import few
from nhalf.base.printable import say
from nhalf.cli.lazy import lazily
from nhalf.cli.options import RunOptions
from nhalf.cli.sides import announce
from nhalf.present.report import write_report
from nhalf.present.terminal.output import emit_json, name_engine
from nhalf.present.terminal.tables import show_style
from nhalf.statistics.doubt import MORE_LAUNCHES

with lazily(globals()):
    from nhalf.decide.changes import CurveRatio, or_least
    from nhalf.decide.check.unclear_runs import counted, runs_before
    from nhalf.decide.check.verdict import CheckedRun, regression_json
    from nhalf.facts.facts import Facts
    from nhalf.facts.guidelines import violations
    from nhalf.facts.precision import unresolved
    from nhalf.facts.tails import points_with_quantiles
    from nhalf.facts.wrong_data import wrong_data
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import More, Prepared, measure
    from nhalf.present.terminal.summary import show_outcome
    from nhalf.present.wording import count
    from nhalf.results import as_json
    from nhalf.sites.launchers import notice
    from nhalf.statistics.family import analysis_budgets_s
    from nhalf.store.keys import parse_axes
    from nhalf.store.run import Run


def measured(prepared: Prepared, progress: Progress) -> RunOutcome:
    """Measure; an interruption reports how to resume, if there is something to resume."""
    from nhalf.store.run import DESCRIPTION

    print_launcher_warning(prepared.site.launcher)
    try:
        return measure(prepared, progress)
    except KeyboardInterrupt as error:
        how = how_ended(error)
        if not (prepared.run.path / DESCRIPTION).exists():
            raise Interrupted(f"{how} before the first point, so nothing is kept") from None
        raise Interrupted(
            f"{how}; every finished point is kept", f"go on with: {prepared.run.resuming}"
        ) from None


def print_launcher_warning(name: str) -> None:
    """Print the warning of a launcher, if it has one, before ranks are started with it."""
    say(notice(name))


def finish(outcome: RunOutcome, request: RunOptions, style: str = "") -> None:
    """Print the outcome and write the requested report; a failed verification is an error."""
    facts = Facts.of([outcome.run])
    print_outcome(outcome, facts, request, style)
    check_sound(outcome, facts)


def say_failed(outcome: RunOutcome) -> None:
    """Say on standard error what could not be measured."""
    for name, reason in outcome.failed.items():
        say(f"not measured: {name}: {reason}")


def check_sound(outcome: RunOutcome, facts: Facts) -> None:
    """Raises FailedError if hosts were lost, or received data were wrong."""
    if outcome.lost:
        losses = "; ".join(f"{host}: {reason}" for host, reason in outcome.lost.items())
        raise FailedError(
            f"lost while measuring: {losses}; every finished point is kept",
            f"go on with the others: {outcome.run.resuming}",
        )
    if wrong := wrong_data(facts):
        points = sum(len(curve.sizes_bytes) for curve in wrong)
        raise FailedError(
            f"the data of {count(points, 'point')} arrived wrong: {wrong[0]}",
            "they have no times; do not trust this library with your data",
        )


def check_soaked(outcome: RunOutcome, calls: str) -> None:
    """Raises FailedError if a long series made fewer calls than it should have."""
    from nhalf.facts.soak import soaked

    lengths = [series.calls for series in soaked(Facts.of([outcome.run]))]
    if not lengths or min(lengths) < float(calls):
        raise FailedError(
            f"a series broke off before its {float(calls):.0f} calls",
            "; ".join(outcome.failed.values()) or "see the notes of the run",
        )


def print_outcome(
    outcome: RunOutcome,
    facts: Facts,
    request: RunOptions,
    style: str = "",
    change: CheckedRun | None = None,
) -> None:
    """Write the requested report, then print JSON, tables in a style, tables, or nothing.

    Wrong data come first. `change` is the check against the run that was measured again.
    """
    announce(facts, request)
    report_path = None
    if request.report:
        report_path = write_report(facts, outcome.run.path / "report.html")
    if request.is_silent or style:
        say_failed(outcome)
    if request.json:
        rows = unresolved(facts, outcome.unmeasured)
        against = {} if change is None else {"against": regression_json(change)}
        members = {**run_json(outcome.run, facts), "unresolved": rows, "notes": outcome.notes}
        emit_json({**members, **against})
    elif style:
        show_style(style, facts)
    elif not request.quiet:
        show_outcome(outcome, facts, report_path)
        if outcome.run.virtual:
            name_engine("library")


def predicted_rows(points: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Points of another machine as `nhalf predict` gives them, whoever answers."""
    names = {"algorithm": "algorithm", "ranks": "ranks", "bytes": "bytes", "time_s": "median_s"}
    return [
        {"mpi": point["mpi"], **{name: point[key] for name, key in names.items()}}
        for point in points
    ]


def run_json(run: Run, facts: Facts, shares: Sequence[float] = ()) -> dict[str, Any]:
    """The JSON object of a run, as `run --json` and `show --json` print it.

    `shares` are those of quantiles, by default the usual ones.
    """
    points = points_with_quantiles(facts, shares)
    for point in points:
        del point["run"], point["bytes_per_time"]
        point["axes"] = parse_axes(point["axes"])
        point["values"] = {item["name"]: item["value"] for item in point["values"]}
    virtual = {"engine": "library", "virtual": run.virtual} if run.virtual else {}
    rows = {"rows": predicted_rows(points)} if run.virtual or run.simulation else {}
    return {
        "run": str(run.path),
        **virtual,
        "points": points,
        **rows,
        "results": as_json(facts.results),
        "guidelines": [verdict.as_json() for verdict in violations(facts)],
    }


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
        say(
            f"unclear for {result.unclear_max} runs in a row: {few(names, 3, '; ')}; measure with "
            "more launches and on a quiet machine, or raise --tolerance"
        )


CURVE = ("pattern", "algorithm", "ranks", "placement", "axes")


def until_decided(
    outcome: RunOutcome,
    time_s: float,
    check_of: Callable[[Run], CheckedRun],
    extended: Callable[[Run, More], RunOutcome],
) -> tuple[RunOutcome, CheckedRun]:
    """A run that ended and its check, or the run `extended` until its check is decided.

    It is looked at as statistics/family.py says, for up to `time_s` seconds more.
    """
    change = check_of(outcome.run)
    for budget_s in analysis_budgets_s(time_s):
        curves = open_curves(change)
        if not curves:
            break
        outcome = extended(outcome.run, More(budget_s=budget_s, curves=curves))
        change = check_of(outcome.run)
    return outcome, change


FIRST_SHARE = 0.6
"""Share of the time after which what is left goes to the curves that look slowest."""
PURSUED_SHARE = 1 / 8
"""Share of the curves that have the rest of the time."""
PURSUING_LEAST_S = 30.0
"""In a shorter run every launch of every curve counts."""
LEAST_REACH = 1e-9
"""Smallest logarithm by which steps are counted: curves without noise go by their ratios."""


def pursued(
    outcome: RunOutcome,
    time_s: float,
    check_of: Callable[[Run], CheckedRun],
    extended: Callable[[Run, More], RunOutcome],
) -> RunOutcome:
    """A run that goes on for `time_s` where it looks slower than before, all of it if that is open.

    It is judged once, when it has ended, so that no rate of errors is shared: chance that made a
    curve look slow is gone after its further launches.
    """
    curves = slowest_curves(check_of(outcome.run))
    whole_s = time_s / (1 - FIRST_SHARE)
    return extended(outcome.run, More(budget_s=time_s, curves=curves, whole_s=whole_s))


def slowest_curves(check: CheckedRun) -> list[dict[str, Any]]:
    """The curves that look slowest, by their standard errors; none if no interval can decide."""

    def steps(curve: CurveRatio) -> float:
        ratio = curve.ratio
        reach = math.log(ratio.ratio / ratio.low) if ratio.low > 0 else math.nan
        return or_least(math.log(ratio.ratio) / max(reach, LEAST_REACH))

    curves = check.comparison.curves if check.comparison else []
    judged = [
        curve for curve in curves if math.isfinite(curve.ratio.low) and not curve.doubt.is_general
    ]
    number = max(1, round(PURSUED_SHARE * len(judged)))
    return _places(sorted(judged, key=steps, reverse=True)[:number])


def open_curves(check: CheckedRun) -> list[dict[str, Any]]:
    """The unclear curves of a check that further launches of this run may decide.

    That they cannot is believed from MORE_LAUNCHES on. None where something is slower: the check is
    decided then.
    """
    if check.comparison is None or check.verdict != "unclear":
        return []
    return _places(
        curve
        for curve in check.comparison.curves
        if curve.worse == "unclear"
        and (curve.doubt.wants_launches or curve.launches < MORE_LAUNCHES)
    )


def _places(curves: Iterable[CurveRatio]) -> list[dict[str, Any]]:
    """What tells curves from each other, each once, in order."""
    keys = {tuple(curve.point[name] for name in CURVE) for curve in curves}
    return [dict(zip(CURVE, key, strict=True)) for key in sorted(keys)]
