"""`nhalf run`: measure."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.printable import say
from nhalf.base.request import option, parameters
from nhalf.base.units import format_duration
from nhalf.cli.job import allocate, run_as_job
from nhalf.cli.lazy import lazily
from nhalf.cli.listing import list_plans
from nhalf.cli.options import OUTPUT, RunOptions
from nhalf.cli.outcome import (
    FIRST_SHARE,
    PURSUING_LEAST_S,
    announce_undecided,
    check_soaked,
    check_sound,
    finish,
    measured,
    print_launcher_warning,
    print_outcome,
    pursued,
    until_decided,
    with_unclear_runs,
)
from nhalf.cli.sides import pair_of, run_and_library
from nhalf.cli.virtual_side import in_words, virtual_machine
from nhalf.jobs.request import RunRequest
from nhalf.measure.plan.request import WHAT, WHERE
from nhalf.present.terminal.output import emit_json, stdout_console
from nhalf.present.terminal.tables import patterns_of, transport_of
from nhalf.sites.placement import FREE

with lazily(globals()):
    from nhalf.decide.check.against import of_libraries
    from nhalf.decide.check.expected import check
    from nhalf.decide.check.verdict import CheckedRun
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.rehearsal import rehearse
    from nhalf.measure.loop.session import More, Prepared
    from nhalf.measure.plan.agenda import Agenda
    from nhalf.measure.plan.like import plan_like, points_of
    from nhalf.measure.plan.plan import Plan
    from nhalf.measure.plan.planning import plan_of, site_of
    from nhalf.measure.plan.state import RunState
    from nhalf.measure.virtual.machine import VirtualMachine, in_virtual_time, real_time
    from nhalf.present.terminal.changes import show_effects
    from nhalf.present.wording import count
    from nhalf.sites.site import Site
    from nhalf.store.run import Run

GROUP = "measure"
MORE = ("launches", "budget")
"""Options that extend a resumed run."""
MODEL_RANKS_QUICK = 256
"""Points of more ranks on the model machine take seconds and more."""
RESUMABLE = {
    *("resume", "report", "quiet", "json", "style", "hosts", "host_file", "launcher"),
    *("submit", "job", "batch_system", "no_wait", *MORE),
}


@dataclass(frozen=True, kw_only=True)
class Request(RunRequest, RunOptions, heading=OUTPUT):
    """What to measure, and what to print."""

    list_: bool = option(
        False, "List studies and patterns, or those with a word (--list WORD).", heading=WHAT
    )
    dry_run: bool = option(
        False, "Print the launch commands; compile and run nothing.", heading=WHERE
    )
    style: str = option(
        "", "Print tables in the style of imb or osu; --pattern then accepts their test names."
    )


def command(request: Request) -> int:
    """Measure messages; every finished point is kept, and an interrupted run can be resumed.

    With --soak, the exit code is 1 if the series breaks off. With --like, it is 1 if anything is
    slower than in that run, or was not measured, and 4 if a curve has been unclear for seven runs
    in a row.

    nhalf run --report
    nhalf run --pattern pingpong,allreduce --bytes 0:4M --mpi openmpi
    nhalf run full --budget 5m --report
    nhalf run pair-map --hosts 'n[1-16]'
    nhalf run --pattern pingpong --axis memory=host,device
    nhalf run p2p --submit --job='--nodes=2'
    nhalf run --like runs/accepted --budget 1m --until-decided 5m
    """
    if request.list_:
        is_table = request.format == "table"
        list_plans(request.study, as_json=request.json, as_table=is_table)
        return 0
    if request.style:
        request = _of_suite(request)
    if request.dry_run:
        _rehearse(request)
        return 0
    outcome = _outcome(request)
    if outcome is None:
        return 0
    if request.like is None:
        finish(outcome, request, request.style)
        if request.soak:
            check_soaked(outcome, request.soak)
        return 0
    outcome, change = _decided(request, request.like, outcome)
    facts = Facts.of([outcome.run])
    print_outcome(outcome, facts, request, request.style, change)
    if not (request.is_silent or request.style):
        show_effects(stdout_console(), change, outcome.run, heading=f"\nagainst {request.like}:")
    announce_undecided(change)
    check_sound(outcome, facts)
    return change.exit_code(strict=False)


def _of_suite(request: Request) -> Request:
    """The request with patterns for names of a suite, over their transport unless one is given."""
    transport = transport_of(request.style, request.pattern)
    request = replace(request, pattern=patterns_of(request.style, request.pattern))
    if "transport" in request.given or transport in ("", request.transport):
        return request
    return replace(request, transport=transport, given=request.given | {"transport"})


def _rehearse(request: Request) -> None:
    """Print the commands that would be started; raises InputError with --submit or --resume."""
    for name in ("submit", "resume"):
        if getattr(request, name):
            raise InputError(f"--dry-run does not go with --{name}", "leave one of them out")
    former = _former(request)
    machine = _machine(request, former)
    site = _site(request, machine)
    plan = _plan(request, site, former, machine)
    rehearsal = rehearse(plan, site, machine)
    print_launcher_warning(site.launcher)
    if not request.quiet:
        for title in rehearsal.compiling:
            say(f"would be compiled first: {title}")
    for name, reason in rehearsal.failed.items():
        say(f"not started: {name}: {reason}")
    if request.json:
        emit_json({"commands": rehearsal.commands, "compiling": rehearsal.compiling})
    else:
        sys.stdout.write("".join(f"{command.line}\n" for command in rehearsal.commands))


def _outcome(request: Request) -> RunOutcome | None:
    """Measure here or in a job; None if the job is not waited for."""
    request.check_together()
    if request.resume is not None:
        _check_only_resume(request)
    if request.submit:
        _check_no_more(request)
        return run_as_job(request, json=request.json, silent=request.is_silent)
    prepared = _prepare(request)
    if prepared.run.virtual and not request.is_silent:
        agenda = Agenda(prepared.plan, prepared.subjects, RunState(placement=FREE))
        say(real_time(agenda).in_words(prepared.plan.budget_s))
    if not request.is_silent:
        _announce_ranks(prepared.plan)
    return measured(prepared, Progress(request.is_silent))


def _announce_ranks(plan: Plan) -> None:
    """Say what takes so long on the model machine with many ranks, where no point ends at once."""
    ranks = max((number for block in plan.blocks for number in block.ranks), default=0)
    if "model" in plan.transports and ranks > MODEL_RANKS_QUICK:
        say(
            f"transport model executes {ranks} ranks in one process, message by message: a "
            "point may take minutes; nhalf predict and its --engine simgrid are for many ranks"
        )


def _prepare(request: RunRequest) -> Prepared:
    """A resumed run, or a new run of this request's plan with its own directory."""
    from nhalf.measure.loop import session

    if request.resume is not None and (run := Run.open(request.resume)).simulation:
        from nhalf.measure.simulate.session import resume

        # A simulated machine has hosts of its own.
        for name in ("hosts", "host_file", "launcher", *request.given.intersection(MORE)):
            if getattr(request, name):
                option = name.replace("_", "-")
                raise InputError(f"--{option} is not for simulated machines", "leave it out")
        return resume(run)
    allocate(request)
    if request.resume is not None:
        return session.resume(
            request.resume, request.hosts, request.host_file_path, request.launcher, _more(request)
        )
    former = _former(request)
    machine = _machine(request, former)
    site = _site(request, machine)
    points = points_of(*former) if former else ()
    plan = _plan(request, site, former, machine)
    prepared = session.begin(plan, request.out, site, points, machine)
    if machine is None:
        return prepared
    note = f"{machine.host}: in virtual time {in_words(machine)}"
    return replace(prepared, notes=(*prepared.notes, note))


def _machine(request: RunRequest, former: tuple[Run, str] | None) -> VirtualMachine | None:
    """The simulated machine, of the request or of the run to measure once more."""
    from nhalf.measure.virtual.machine import CORES_USUAL

    if not request.machine and former is not None:
        return VirtualMachine.of(former[0])
    by_study = bool(request.study) and "ranks" not in request.given
    cores_least = CORES_USUAL if by_study else 0
    return virtual_machine(request, request.ranks, request.seed, request.placements, cores_least)


def _site(request: RunRequest, machine: VirtualMachine | None) -> Site:
    """The nodes of a simulated machine, or the hosts of the request."""
    return machine.site if machine else site_of(request)


def _former(request: RunRequest) -> tuple[Run, str] | None:
    """The run to measure once more, and one library of it or ''; None without --like."""
    return run_and_library(request.like) if request.like else None


def _plan(
    request: RunRequest, site: Site, former: tuple[Run, str] | None, machine: VirtualMachine | None
) -> Plan:
    """The plan of the request, or that of an earlier run; once in virtual time."""
    import msgspec

    from nhalf.measure.virtual.machine import TIMEOUT_S
    from nhalf.statistics.family import INTERIM_ANALYSES

    plan = plan_like(request, *former) if former else plan_of(request, site)
    if request.until_decided_s:
        plan = msgspec.structs.replace(plan, looks=INTERIM_ANALYSES)
    if former and _pursues(request, machine is not None):
        plan = msgspec.structs.replace(plan, budget_s=FIRST_SHARE * request.budget_s)
    if machine is None:
        return plan
    if machine.is_exact and "launches" in request.given and request.launches > 1:
        raise InputError("launches in virtual time are equal", "leave --launches out")
    machine.check(plan.blocks)
    timeout_s = request.timeout_s if "timeout" in request.given else TIMEOUT_S
    return in_virtual_time(plan, machine, timeout_s)


def _pursues(request: RunRequest, is_virtual: bool) -> bool:
    """Whether a part of the time of a comparison goes to the curves that look slowest."""
    is_other = is_virtual or request.until_decided_s or "launches" in request.given
    return not is_other and request.budget_s >= PURSUING_LEAST_S


def _more(request: RunRequest) -> More | None:
    """The launches and the budget to add to a resumed run, None if there are none."""
    if not request.given.intersection(MORE):
        return None
    launches = request.launches if "launches" in request.given else 0
    return More(launches, request.budget_s)


def _check_no_more(request: Request) -> None:
    """Raises InputError if a job is to extend the run that it resumes."""
    if request.resume is not None and request.given.intersection(MORE):
        raise InputError(
            "--submit goes on with a run as it is, without --launches and --budget",
            f"add to it inside an allocation: nhalf run --resume {request.resume} --launches 12",
        )


def _decided(request: Request, like: Path, outcome: RunOutcome) -> tuple[RunOutcome, CheckedRun]:
    """The run, gone on with if that is asked for, and its check against the run of --like.

    Answers that are unclear are counted over the earlier runs of its folder.
    """
    from nhalf.decide.check.verdict import UNCLEAR_MAX
    from nhalf.measure.loop import session

    def check_of(run: Run) -> CheckedRun:
        facts = Facts.of([run])
        baseline, library = run_and_library(like)
        former_mpi, mpi = pair_of((baseline, library), (run, ""))
        change = check(facts, str(baseline.path), mpi=mpi, former_mpi=former_mpi)
        return of_libraries(change, facts.titles) if bool(request.mpi) else change

    def extended(run: Run, more: session.More) -> RunOutcome:
        if not request.is_silent:
            curves = count(len(more.curves), "curve") if more.curves else "all curves"
            say(f"measuring {curves} for another {format_duration(more.budget_s)}")
        where = (request.hosts, request.host_file_path, request.launcher)
        return measured(session.resume(run.path, *where, more), Progress(request.is_silent))

    if _pursues(request, bool(outcome.run.virtual)):
        time_s = (1 - FIRST_SHARE) * request.budget_s
        outcome = pursued(outcome, time_s, check_of, extended)
    outcome, change = until_decided(outcome, request.until_decided_s, check_of, extended)
    baseline, _ = run_and_library(like)
    return outcome, with_unclear_runs(change, outcome.run, baseline, UNCLEAR_MAX, check_of)


def _check_only_resume(request: Request) -> None:
    """Raises InputError for options that would change the plan of the resumed run."""
    not_resumable = request.given - RESUMABLE
    names = [
        parameter.spelling
        for parameter in parameters(type(request))
        if parameter.name in not_resumable
    ]
    if names:
        raise InputError(
            f"a run goes on as it was begun, so --resume does not go with {', '.join(names)}",
            "begin another run for another plan; --launches and --budget add to this one",
        )
