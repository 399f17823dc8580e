# SPDX-License-Identifier: Apache-2.0
"""`nhalf study`: repeat a published study, and judge its conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, RunOptions
from nhalf.measure.plan.request import WHERE, Effort, Subjects, Where

if TYPE_CHECKING:
    from nhalf.decide.studies.form import StudyForm
    from nhalf.decide.studies.source import Source
    from nhalf.measure.loop.ending import Outcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.store.run import Run

FORMS_OF_A_RUN = frozenset({"published_study", "json", "format", "quiet"})
"""Options that need no measurement."""
NODE = "node"
"""The folder of the node's run in a run."""
NODE_S = 45.0
"""What a brief measurement of a node takes at most on a quiet machine, with compiling."""


@dataclass(frozen=True, kw_only=True)
class Request(Subjects, Effort, Where, RunOptions, heading=OUTPUT):
    """Which study to repeat, and where."""

    published_study: Annotated[
        str, Word("Published study, or a file of one; without, they are listed.", "STUDY")
    ] = ""
    on: Annotated[
        str,
        Option("Repeat it on this machine of record instead of measuring.", heading=WHERE),
    ] = ""
    run: Annotated[
        str,
        Option(
            "Take this run, or one library of it (RUN:LIBRARY), instead of measuring.",
            heading=WHERE,
        ),
    ] = ""


def command(request: Request) -> None:
    """Repeat a published study: its tables beside the published ones, and which conclusions hold.

    Each conclusion holds, does not hold, or cannot be tested, with the interval that says so.

    nhalf study
    nhalf study sp2-1995 --on sp2-mpl
    nhalf study b-eff-2005 --budget 5m
    nhalf study b-eff-2005 --run runs/today
    """
    from nhalf.decide.studies import catalogue
    from nhalf.decide.studies.repeat import repeat
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.study import show_repetition

    name = request.published_study
    if not name:
        _list(request)
        return
    form = catalogue.study(name)
    source, place = _source(request, form)
    repetition = repeat(name, form, source)
    if request.json:
        emit_json({**repetition.as_json(), **place})
    elif not request.quiet:
        show_repetition(repetition)


def _list(request: Request) -> None:
    """Print the studies that can be repeated."""
    from nhalf.decide.studies import catalogue
    from nhalf.present.terminal.output import emit_json
    from nhalf.present.terminal.study import show_studies

    if misplaced := sorted(request.given - FORMS_OF_A_RUN):
        raise InputError(f"--{misplaced[0]} of which study?", "name one, as nhalf study lists them")
    forms = {name: catalogue.study(name) for name in catalogue.names()}
    if request.json:
        rows = [
            {
                "name": name,
                "title": form.title,
                "source": form.source,
                "machines": [record for group in form.machines for record in group],
                "conclusions": len(form.conclusion),
            }
            for name, form in forms.items()
        ]
        emit_json({"studies": rows})
    else:
        show_studies(forms)


def _source(request: Request, form: StudyForm) -> tuple[Source, dict[str, str | None]]:
    """The numbers of a machine of record, of a run, or of a run that is made; and its place."""
    from nhalf.cli.run_side import run_and_library
    from nhalf.decide.studies.measured import Measured
    from nhalf.decide.studies.recorded import Recorded
    from nhalf.facts.facts import Facts
    from nhalf.machines import catalogue

    sources = request.given & {"on", "run"}
    if sources and (misplaced := sorted(request.given - sources - FORMS_OF_A_RUN)):
        raise InputError(
            f"--{misplaced[0]} is for a measurement", "leave it out, or --on and --run"
        )
    if len(sources) == 2:
        raise InputError("--on and --run name two machines", "leave one of them out")
    if request.on and request.on not in catalogue.names():
        raise unknown("machine of record", request.on, catalogue.names())
    if request.on:
        return Recorded(request.on, form.machines), {"machine": request.on, "run": None}
    if request.run:
        run, library = run_and_library(request.run)
    else:
        run, library = _measured(request, form).run, ""
    place = {"machine": None, "run": str(run.path)}
    return Measured(run.name, Facts.of([run, *_node_runs(run)]), library), place


def _node_runs(run: Run) -> list[Run]:
    """The run of the node that was measured with a run, if there is one."""
    from nhalf.store.run import DESCRIPTION, Run

    folder = run.path / NODE
    opened = [Run.open(folder)] if (folder / DESCRIPTION).is_file() else []
    return [node for node in opened if node.has_points()]


def _measured(request: Request, form: StudyForm) -> Outcome:
    """An ordinary run of what the study measures; prints what could not be measured.

    A node, if the study has one, is measured after it, in its own run inside; its time is
    taken off the budget of messages.
    """
    import sys

    from msgspec.structs import replace

    from nhalf.base.request import parameters
    from nhalf.cli.allocate import allocate
    from nhalf.cli.outcome import check_sound, measured
    from nhalf.decide.studies import catalogue
    from nhalf.facts.facts import Facts
    from nhalf.jobs.request import RunRequest
    from nhalf.measure.loop import session
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.plan.planning import plan_of, site_of
    from nhalf.present.report import write_report

    forms = (Subjects, Effort, Where)
    names = {parameter.name for form in forms for parameter in parameters(form)} | {"out"}
    options = {name: getattr(request, name) for name in names}
    study = str(catalogue.path_of(request.published_study))
    run_request = RunRequest(**options, study=study, given=request.given & names)
    allocate(run_request)
    site = site_of(run_request)
    plan = plan_of(run_request, site)
    if form.node:
        plan = replace(plan, budget_s=max(plan.budget_s / 2, plan.budget_s - NODE_S))
    prepared = session.begin(plan, request.out, site)
    outcome = measured(prepared, Progress(request.is_silent))
    for name, reason in outcome.failed.items():
        sys.stderr.write(f"nhalf: not measured: {name}: {reason}\n")
    if form.node:
        _measure_node(outcome.run, Progress(request.is_silent))
    facts = Facts.of([outcome.run, *_node_runs(outcome.run)])
    if request.report:
        write_report(facts, outcome.run.path / "report.html")
    check_sound(outcome, facts)
    return outcome


def _measure_node(run: Run, progress: Progress) -> None:
    """Measure the node briefly; prints why it cannot be."""
    import sys

    from nhalf.base.errors import FailedError, MissingError
    from nhalf.loops.livermore.brief import measure_brief
    from nhalf.measure.probe.process import LaunchError
    from nhalf.node.measuring import begin

    try:
        measure_brief(begin(run.path / NODE), progress)
    except (FailedError, LaunchError, MissingError) as error:
        sys.stderr.write(f"nhalf: not measured: the node: {error}\n")
