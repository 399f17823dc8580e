"""From a measurement to its output for people and scripts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nhalf.base.errors import FailedError, Interrupted, how_ended

if TYPE_CHECKING:
    from nhalf.cli.options import RunOptions
    from nhalf.decide.check.verdict import CheckedRun
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import Prepared
    from nhalf.store.run import Run


def measured(prepared: Prepared, progress: Progress) -> RunOutcome:
    """Measure; an interruption reports how to resume, if there is something to resume."""
    from nhalf.measure.loop.session import measure
    from nhalf.store.run import DESCRIPTION

    print_launcher_warning(prepared.site.launcher)
    try:
        return measure(prepared, progress)
    except KeyboardInterrupt as error:
        how = how_ended(error)
        if not (prepared.run.path / DESCRIPTION).exists():
            raise Interrupted(f"{how} before the first point, so nothing is kept") from None
        raise Interrupted(
            f"{how}; every finished point is kept",
            f"go on with: {prepared.run.resuming}",
        ) from None


def print_launcher_warning(name: str) -> None:
    """Print the warning of a launcher, if it has one, before ranks are started with it."""
    from nhalf.sites.launchers import notice

    if warning := notice(name):
        sys.stderr.write(f"nhalf: {warning}\n")


def finish(outcome: RunOutcome, request: RunOptions, style: str = "") -> None:
    """Print the outcome and write the requested report; a failed verification is an error."""
    from nhalf.facts.facts import Facts

    facts = Facts.of([outcome.run])
    print_outcome(outcome, facts, request, style)
    check_sound(outcome, facts)


def check_sound(outcome: RunOutcome, facts: Facts) -> None:
    """Raises FailedError if hosts were lost, or received data were wrong."""
    _check_hosts(outcome)
    _check_verified(facts)


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
    from nhalf.cli.wrong_data import announce

    announce(facts, request)
    report_path = None
    if request.report:
        from nhalf.present.report import write_report

        report_path = write_report(facts, outcome.run.path / "report.html")
    if request.is_silent or style:
        for name, reason in outcome.failed.items():
            sys.stderr.write(f"nhalf: not measured: {name}: {reason}\n")
    if request.json:
        from nhalf.facts.precision import unresolved
        from nhalf.present.terminal.output import emit_json

        rows = unresolved(facts, outcome.unmeasured)
        against = {} if change is None else {"against": _change_json(change)}
        members = {**run_json(outcome.run, facts), "unresolved": rows, "notes": outcome.notes}
        emit_json({**members, **against})
    elif style:
        from nhalf.present.terminal.style import show_style

        show_style(style, facts)
    elif not request.quiet:
        from nhalf.present.terminal.output import name_engine
        from nhalf.present.terminal.summary import show_outcome

        show_outcome(outcome, facts, report_path)
        if outcome.run.virtual:
            name_engine("library")


def _change_json(change: CheckedRun) -> dict[str, Any]:
    from nhalf.decide.check.regression import regression_json

    return regression_json(change)


def _check_hosts(outcome: RunOutcome) -> None:
    """Raises FailedError if hosts were lost."""
    if outcome.lost:
        losses = "; ".join(f"{host}: {reason}" for host, reason in outcome.lost.items())
        raise FailedError(
            f"lost while measuring: {losses}; every finished point is kept",
            f"go on with the others: {outcome.run.resuming}",
        )


def _check_verified(facts: Facts) -> None:
    """Raises FailedError if received data were wrong."""
    from nhalf.facts.wrong_data import wrong_data
    from nhalf.present.wording import count

    if wrong := wrong_data(facts):
        points = sum(len(curve.sizes_bytes) for curve in wrong)
        raise FailedError(
            f"the data of {count(points, 'point')} arrived wrong: {wrong[0]}",
            "they have no times; do not trust this library with your data",
        )


def run_json(run: Run, facts: Facts) -> dict[str, Any]:
    """The JSON object of a run, as `run --json` and `show --json` print it."""
    from nhalf.facts.guidelines import violations
    from nhalf.results import as_json
    from nhalf.store.keys import parse_axes

    points = facts.summary.drop("run", "bytes_per_time").to_dicts()
    for point in points:
        point["axes"] = parse_axes(point["axes"])
        point["values"] = {item["name"]: item["value"] for item in point["values"]}
    virtual = {"engine": "library", "virtual": run.virtual} if run.virtual else {}
    return {
        "run": str(run.path),
        **virtual,
        "points": points,
        "results": as_json(facts.results),
        "guidelines": [verdict.as_json() for verdict in violations(facts)],
    }
