"""`nhalf study`: repeat a published study, and judge its conclusions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.files import write_text
from nhalf.base.printable import say
from nhalf.base.request import option, parameters, word
from nhalf.cli.job import allocate
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, RunOptions
from nhalf.cli.outcome import check_sound, measured, say_failed
from nhalf.cli.sides import remark, run_and_library
from nhalf.cli.virtual_side import virtual_machine
from nhalf.jobs.request import RunRequest
from nhalf.measure.plan.request import WHERE, Effort, OnMachine, Subjects, Where
from nhalf.present.report import check_place, write_report
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console

with lazily(globals()):
    from msgspec.structs import replace

    from nhalf.facts.facts import Facts
    from nhalf.loops.livermore.keeping import measure_brief
    from nhalf.measure.loop import session
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import Prepared
    from nhalf.measure.plan.plan import Plan
    from nhalf.measure.plan.planning import plan_of, site_of
    from nhalf.measure.probe.subject import transport_file
    from nhalf.measure.virtual.machine import VirtualMachine, in_virtual_time
    from nhalf.node.measuring import begin
    from nhalf.present.report.study_page import studies_page, study_page
    from nhalf.present.study_words import show_repetition, show_studies
    from nhalf.statistics.summary import check_samples
    from nhalf.store.run import Run
    from nhalf.studies.form import StudyForm
    from nhalf.studies.judge import NumberSource
    from nhalf.studies.measured import Measured
    from nhalf.studies.needs import Needs, needs_of, with_ranks_asked
    from nhalf.studies.overview import overviews
    from nhalf.studies.recorded import RecordedMachine
    from nhalf.studies.repeat import Repetition, repeat
    from nhalf.studies.turns import measure_in_turns, turns_of

GROUP = "machine"

FORMS_OF_A_RUN = frozenset({"published_study", "json", "format", "quiet", "report"})
"""Options that need no measurement."""
SOURCES = frozenset({"on", "run"})
"""Options that name numbers which are there; --out then names the page."""
NODE = "node"
"""The folder of the node's run in a run."""
NODE_S = 45.0
"""What a brief measurement of a node takes at most on a quiet machine, with compiling."""
PAGE = "study.html"
"""The page of a study, in the folder of its run, beside its REPORT."""
REPORT = "report.html"
ALL_PAGE = "published-studies.html"
"""The page of all studies, in the folder where one is."""


@dataclass(frozen=True, kw_only=True)
class Request(Subjects, Effort, Where, OnMachine, RunOptions, heading=OUTPUT):
    """Which study to repeat, and where."""

    published_study: str = word(
        "", "Published study, or a file of one; without, they are listed.", "STUDY"
    )
    on: str = option("", "Repeat it on this machine of record instead of measuring.", heading=WHERE)
    run: str = option(
        "",
        "Take this run, or one library of it (RUN:LIBRARY), instead of measuring.",
        heading=WHERE,
    )


def command(request: Request) -> None:
    """Repeat a published study: its tables beside the published ones, and which conclusions hold.

    Each conclusion holds, does not hold, or cannot be tested, with the interval that says so. What
    decides most of them in a second is measured first. With --machine, the library runs in virtual
    time, and what that does not decide the machine's record does.
    --report writes a page: study.html in the run's folder; with --on, or of all studies on their
    machines of record, here.

    nhalf study
    nhalf study sp2-1995 --on sp2-mpl
    nhalf study sp2-1995 --machine sp2-mpl --mpi mpich
    nhalf study b-eff-2005 --budget 5m --report
    nhalf study b-eff-2005 --run runs/today
    nhalf study --report
    """
    from nhalf.studies import catalogue

    name = request.published_study
    if not name:
        _all(request)
        return
    form = catalogue.study(name)
    source, place = _source(request, form)
    virtual = place["machine"] if place["run"] else None
    record = RecordedMachine(virtual, form.machines) if virtual else None
    repetition = repeat(name, form, source, record)
    page_out = request.out if request.given & SOURCES else None
    page = _page(repetition, place["run"], page_out) if request.report else None
    if request.json:
        emit_json({**repetition.as_json(), **place, "page": page})
    elif not request.quiet:
        show_repetition(repetition)
        _show_place(page)


def _page(repetition: Repetition, run: str | None, out: Path | None) -> str:
    """Write the page of a study: as `out`, into its run, or named after study and machine."""
    name = Path(repetition.study).stem
    path = out or (Path(run, PAGE) if run else Path(f"{name}-{repetition.machine}.html"))
    check_place(path)
    has_report = path.with_name(REPORT).is_file()
    links = {"The report of the run": REPORT} if has_report and run else {}
    return str(write_text(path, study_page(repetition, links)).absolute())


def _show_place(page: str | None) -> None:
    if page:
        print_lines(stdout_console(), f"page: {page}")


def _all(request: Request) -> None:
    """Print the studies that can be repeated, or write a page of them all."""
    from nhalf.studies import catalogue

    if misplaced := sorted(request.given - FORMS_OF_A_RUN):
        raise InputError(f"--{misplaced[0]} of which study?", "name one, as nhalf study lists them")
    forms = {name: catalogue.study(name) for name in catalogue.names()}
    page, rows = None, [_row(name, form) for name, form in forms.items()]
    if request.report:
        everything = list(overviews())
        rows = [row | of.as_json() for row, of in zip(rows, everything, strict=True)]
        page = str(write_text(Path(ALL_PAGE), studies_page(everything)).absolute())
    if request.json:
        emit_json({"studies": rows, "page": page})
    elif not request.quiet:
        show_studies(forms)
        _show_place(page)


def _row(name: str, form: StudyForm) -> dict[str, Any]:
    """A study in the list as JSON."""
    return {
        "name": name,
        "title": form.title,
        "source": form.source,
        "machines": [record for group in form.machines for record in group],
        "conclusions": len(form.conclusion),
    }


def _source(request: Request, form: StudyForm) -> tuple[NumberSource, dict[str, str | None]]:
    """The numbers of a machine of record, of a run, or of a run that is made; and its place."""
    from nhalf.machines import catalogue

    sources = request.given & SOURCES
    allowed = FORMS_OF_A_RUN | ({"out"} if request.report else set())
    if sources and (misplaced := sorted(request.given - sources - allowed)):
        raise InputError(
            f"--{misplaced[0]} is for a measurement", "leave it out, or --on and --run"
        )
    if len(sources) == 2:
        raise InputError("--on and --run name two machines", "leave one of them out")
    if request.on and request.on not in catalogue.names():
        raise catalogue.unknown_machine("machine of record", request.on)
    if request.on:
        return RecordedMachine(request.on, form.machines), {"machine": request.on, "run": None}
    if request.run:
        run, library = run_and_library(request.run)
    else:
        run, library = _measured(request, form).run, ""
    machine = run.virtual.get("machine")
    machine = machine if machine in catalogue.names() else None
    place = {"machine": machine, "run": str(run.path)}
    facts = Facts.of([run, *_node_runs(run)])
    remark(facts)
    return Measured(machine or run.name, facts, library), place


def _node_runs(run: Run) -> list[Run]:
    """The run of the node that was measured with a run, if it is whole; prints why it is not."""
    from nhalf.store.run import DESCRIPTION

    folder = run.path / NODE
    if not (folder / DESCRIPTION).is_file():
        return []
    try:
        node = Run.open(folder)
        if not node.has_points():
            return []
        check_samples(node.measurements())
    except InputError as error:
        say(f"left out: the node: {error}")
        return []
    return [node]


def _measured(request: Request, form: StudyForm) -> RunOutcome:
    """An ordinary run of what the study measures; prints what could not be measured.

    A node, if the study has one, is measured after it, in its own run inside; its time is
    taken off the budget of messages.
    """
    from nhalf.studies import catalogue
    from nhalf.studies.needs import VIRTUAL_RANKS_MOST

    forms = (Subjects, Effort, Where, OnMachine)
    names = {parameter.name for form in forms for parameter in parameters(form)} | {"out"}
    options = {name: getattr(request, name) for name in names}
    study = str(catalogue.path_of(request.published_study))
    run_request = RunRequest(**options, study=study, given=request.given & names)
    ranks, seed, placements = run_request.ranks, run_request.seed, run_request.placements
    machine = virtual_machine(run_request, ranks, seed, placements, VIRTUAL_RANKS_MOST)
    if machine is None:
        allocate(run_request)
    site = machine.site if machine else site_of(run_request)
    plan = plan_of(run_request, site)
    if machine:
        plan = _in_virtual_time(request, form, plan, machine)
    needs = needs_of(form, plan, site.has_several_hosts, machine.name if machine else "")
    if machine or "transport" not in request.given:  # others' patterns are known by probes alone
        sys.stderr.write("" if request.quiet else f"nhalf: {needs.words}\n")
    plan = needs.reduced(plan)
    if form.node and not machine:
        plan = replace(plan, budget_s=max(plan.budget_s / 2, plan.budget_s - NODE_S))
    prepared = session.begin(plan, request.out, site, machine=machine)
    outcome = _messages(request, form, prepared, needs)
    say_failed(outcome)
    if form.node and not machine:
        _measure_node(outcome.run, Progress(request.is_silent))
    facts = Facts.of([outcome.run, *_node_runs(outcome.run)])
    if request.report:
        write_report(facts, outcome.run.path / REPORT)
    check_sound(outcome, facts)
    return outcome


def _in_virtual_time(
    request: Request, form: StudyForm, plan: Plan, machine: VirtualMachine
) -> Plan:
    """The plan of a library on a machine, with the ranks that the study asks for.

    A point may take as long as all of them. Raises InputError for launches that would be equal.
    """
    from nhalf.measure.virtual.machine import TIMEOUT_S

    if machine.is_exact and plan.launches_fixed:
        raise InputError("launches in virtual time are equal", "leave --launches out")
    usual_s = min(TIMEOUT_S, max(plan.timeout_s, plan.budget_s))
    timeout_s = plan.timeout_s if "timeout" in request.given else usual_s
    transports = plan.transports
    if "transport" not in request.given:
        transports = [name for name in transports if transport_file(name).carried_by_mpi]
    plan = with_ranks_asked(form, replace(plan, transports=transports), machine.site)
    return in_virtual_time(plan, machine, timeout_s)


def _messages(request: Request, form: StudyForm, prepared: Prepared, needs: Needs) -> RunOutcome:
    """Measure in turns what conclusions need; at once if launches are given, or time is not."""

    def turn(prepared: Prepared) -> RunOutcome:
        return measured(prepared, Progress(request.is_silent))

    plan, run = prepared.plan, prepared.run
    turns = turns_of(needs.by_conclusion, needs.of_tables, plan, prepared.subjects)
    if not turns.works or plan.launches_fixed or not plan.budget_s:
        return turn(prepared)
    name = run.virtual.get("machine") or run.name
    return measure_in_turns(prepared, turns, form, name, turn)


def _measure_node(run: Run, progress: Progress) -> None:
    """Measure the node briefly; prints why it cannot be."""
    from nhalf.measure.probe.process import LaunchError

    try:
        measure_brief(begin(run.path / NODE), progress)
    except (FailedError, LaunchError, MissingError) as error:
        say(f"not measured: the node: {error}")
