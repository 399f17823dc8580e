"""A whole run: find the subjects, make or reopen the directory, measure, write the tables."""

import datetime
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import BudgetSpentError, InputError, MissingError, NhalfError, unknown
from nhalf.base.units import format_size
from nhalf.measure.loop.ending import RunOutcome, keep_end, time_limit
from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Plan, Setting, check_settings, read_plan
from nhalf.measure.plan.resolve import ALL, absent, check_blocks, check_known, resolve
from nhalf.measure.plan.state import EXTENDED, LIKE
from nhalf.measure.probe.libraries import (
    candidates,
    choices_in_words,
    compile_probes,
    libraries_here,
    needs_one,
)
from nhalf.measure.probe.pattern import every_info
from nhalf.measure.probe.subject import Subject, library_subject, local_subject, transport_file
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.measure.virtual.subject import on_network
from nhalf.mpi.gpu import AXIS as MEMORY
from nhalf.mpi.gpu import asks_for_gpu, for_gpu
from nhalf.mpi.transport_files import MPI, TransportFile, with_kernels
from nhalf.mpi.vendors import eager_limits
from nhalf.sites.environment import environment, virtual_environment
from nhalf.sites.launchers import check_is_here
from nhalf.sites.site import HERE, Site, find_site
from nhalf.store.run import Run


@dataclass(frozen=True)
class Prepared:
    """A run that can be measured: its plan, subjects and site, and what cannot be measured.

    `began_s` is when its time budget began, on the monotonic clock; `notes` are lines about the
    plan, for the end of the run.
    """

    run: Run
    plan: Plan
    subjects: list[Subject]
    failed: dict[str, str]
    site: Site = HERE
    began_s: float = field(default_factory=time.monotonic)
    notes: Sequence[str] = ()


def begin(
    plan: Plan,
    out: Path | None,
    site: Site = HERE,
    points: Sequence[Mapping[str, Any]] = (),
    machine: VirtualMachine | None = None,
) -> Prepared:
    """Check the plan against what is installed here and make its run directory.

    With `points` (plan/like.py), only these are measured; with a `machine`, whose site is `site`,
    on its network, which is virtual. The plan returned lists patterns and libraries one by one.
    Raises InputError for unknown names and sizes, MissingError when nothing can be measured.
    """
    check_is_here(site.launcher)
    prepare_probes(plan)
    began_s = time.monotonic()
    requested = plan
    plan, subjects, failed = checked(plan, machine)
    if machine:  # its network may have been compiled
        began_s = time.monotonic()
    notes = choices_in_words(requested) if any(subject.library for subject in subjects) else []
    plain = [subject for subject in subjects if not subject.setting]
    libraries = list(dict.fromkeys(subject.library.name for subject in plain if subject.library))
    # Without one of them, resuming must not look for all of them.
    transports = list(dict.fromkeys(subject.transport for subject in plain))
    plan = msgspec.structs.replace(
        plan, mpi=libraries, transports=transports, hosts_found=0 if machine else len(site.hosts)
    )
    surroundings = virtual_environment(machine.host) if machine else _environment(site, plain)
    description = {
        "environment": {**surroundings, **_variables(plan), **programs(plan)},
        "plan": msgspec.to_builtins(plan),
        "titles": {subject.key: subject.title for subject in subjects},
        **({"virtual": machine.as_json()} if machine else {}),
    }
    run = Run.create(out or default_folder(), description)
    if machine:
        machine.keep(run.path)
    with run.journal() as journal:
        for curve in points:
            journal.append({"event": LIKE, **curve})
    return Prepared(run, plan, subjects, failed, site, began_s, notes)


def _environment(site: Site, subjects: Sequence[Subject]) -> dict[str, Any]:
    """Describe where a run measures."""
    return {
        **environment(),
        "site": site.as_json(),
        "eager_limits": eager_limits(s.library for s in subjects if s.library),
    }


def prepare_probes(plan: Plan) -> None:
    """Compile what a plan needs, before its budget begins, after checks that need no probe."""
    check_before_probes(plan)
    compile_probes(plan, _transports(plan))


def check_before_probes(plan: Plan) -> None:
    """Raises InputError for what is wrong whatever the probes of a plan can do."""
    check_blocks(plan)
    check_settings(plan.settings)
    for setting in plan.settings:
        transport = setting.transport or MPI.name
        carried = not setting.transport and any(
            transport_file(name).carried_by_mpi for name in plan.transports
        )
        if transport not in plan.transports and not carried:
            raise InputError(
                f"the setting {setting.name!r} is for transport {transport}",
                f"add --transport {transport}",
            )
    if not any(file.app for file in _transports(plan)):
        _check_names(plan)


def _check_names(plan: Plan) -> None:
    """Raises InputError for patterns that are named and that no probe knows.

    Each probe has all patterns, of which its transport may lack some, so that one which is there
    answers for those to be compiled.
    """
    names = [] if plan.study else [name for name in plan.patterns if name != ALL]
    if not names:
        return
    try:
        infos = every_info()
    except NhalfError:  # not built: the probes that are needed will answer
        return
    check_known(names, infos)


def checked(
    plan: Plan, machine: VirtualMachine | None = None
) -> tuple[Plan, list[Subject], dict[str, str]]:
    """Return the plan with its patterns listed, its subjects, and why others are missing."""
    subjects, failed = _subjects(plan)
    if machine:
        subjects = on_network(subjects, machine, libraries_here(plan))
    return resolve(plan, subjects), subjects, failed


@dataclass(frozen=True)
class More:
    """What is added to a run: launches in total, and seconds to spend; 0 if unspecified.

    `curves` (pattern, algorithm, ranks, placement, axes) are those that go on, of all subjects and
    sizes or those that they name; all if empty. The plan keeps `whole_s`, unless that is 0.
    """

    launches: int = 0
    budget_s: float = 0.0
    curves: Sequence[Mapping[str, Any]] = ()
    whole_s: float = 0.0


def resume(
    path: Path, hosts: str = "", host_file: str = "", launcher: str = "", more: More | None = None
) -> Prepared:
    """Open a run that was interrupted, or is to be extended, with its original libraries.

    Hosts and launcher are those given here, else those of its plan, else those of the present
    allocation. Raises MissingError if it was begun on several hosts and none are available now.
    """
    run = Run.open(path)
    if run.environment.get("imported"):
        raise InputError(
            f"{path} was imported, so nothing of it can be measured again",
            "import more logs: nhalf import FILE... --out RUN",
        )
    try:
        plan = read_plan(run.plan)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} has a plan that this nhalf does not know: {error}") from error
    machine = VirtualMachine.of(run)
    named_hosts = (hosts, host_file) if hosts or host_file else (plan.hosts, plan.host_file)
    site = machine.site if machine else find_site(*named_hosts, launcher or plan.launcher)
    if plan.hosts_found and not site.hosts:
        raise MissingError(
            f"{path} was begun on {plan.hosts_found} hosts, and here is one machine",
            "give --hosts, or resume it inside an allocation",
        )
    check_is_here(site.launcher)
    compile_probes(plan, _transports(plan))
    subjects, failed = _subjects(plan)
    if machine:
        subjects = on_network(subjects, machine, libraries_here(plan))
    if more:
        if machine and machine.is_exact and more.launches:
            raise InputError("launches in virtual time are equal", "leave --launches out")
        run, plan = _extended(run, plan, more)
    return Prepared(run, plan, subjects, failed, site)


def _extended(run: Run, plan: Plan, more: More) -> tuple[Run, Plan]:
    """Extend a run, and note that in its description and its journal.

    Raises InputError if it already has this many launches.
    """
    if more.launches:
        numbers = [event["launch"] for event in run.events() if event["event"] == "point"]
        launches_done = max(numbers, default=-1) + 1
        if more.launches <= launches_done:
            raise InputError(
                f"{run.path.name} has {launches_done} launches already",
                f"ask for more than {launches_done}",
            )
        blocks = [msgspec.structs.replace(block, launches=more.launches) for block in plan.blocks]
        plan = msgspec.structs.replace(plan, launches=more.launches, blocks=blocks)
    plan = msgspec.structs.replace(plan, budget_s=more.budget_s, launches_fixed=bool(more.launches))
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    extension = {"when": when, "launches": more.launches, "budget_s": more.budget_s}
    plan_kept = msgspec.structs.replace(plan, budget_s=more.whole_s or more.budget_s)
    run = run.extended(msgspec.to_builtins(plan_kept), extension)
    with run.journal() as journal:
        curves = {"curves": [dict(curve) for curve in more.curves]} if more.curves else {}
        journal.append({"event": EXTENDED, **extension, **curves})
    return run, plan


def measure(prepared: Prepared, progress: Progress) -> RunOutcome:
    """Measure the points of the plan that the journal lacks, then write the Parquet file.

    Raises MissingError if no subject gave a single point, BudgetSpentError if that is for the
    time alone: the run is removed if it is new.
    """
    with prepared.run.measuring():
        return _measured(prepared, progress)


def _measured(prepared: Prepared, progress: Progress) -> RunOutcome:
    run, plan, subjects = prepared.run, prepared.plan, prepared.subjects
    with progress:
        limit = time_limit(prepared.began_s)
        measuring = Measuring(run, plan, subjects, progress, prepared.site, limit)
        failed = {**prepared.failed, **measuring.run()}
    events = run.events()
    failed |= _failed_points(events)
    if not any(event["event"] == "point" for event in events):
        reasons = _by_reason(failed) or measuring.troubles_in_words()
        if not reasons:
            raise BudgetSpentError(plan.budget_s)
        raise MissingError(f"nothing could be measured: {'; '.join(reasons)}", "run nhalf doctor")
    agenda = measuring.agenda
    notes = [
        *prepared.notes,
        *absent(plan, subjects),
        *measuring.omissions_in_words(),
        *measuring.troubles_in_words(),
    ]
    outcome = RunOutcome(run, failed, notes, agenda.unmeasured(), measuring.state.dead)
    keep_end(outcome)
    run.finish()
    return outcome


def _by_reason(failed: Mapping[str, str]) -> list[str]:
    """Return each reason once, after the names of what failed for it."""
    names: dict[str, list[str]] = {}
    for name, reason in failed.items():
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(names[reason])}: {reason}" for reason in names]


def default_folder() -> Path:
    """Return an unused run folder named by the current time."""
    name = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := Path("runs", name)).exists())


def _failed_points(events: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the points that were skipped: the reason by subject, pattern and sizes."""
    sizes: dict[tuple[str, str, str], list[int]] = {}
    for event in events:
        if event["event"] == "failed":
            key = (event["subject"], event["pattern"], event["reason"])
            sizes.setdefault(key, []).append(event["bytes"])
    failed = {}
    for (subject, pattern, reason), failed_sizes in sizes.items():
        first, last = format_size(min(failed_sizes)), format_size(max(failed_sizes))
        count = len(set(failed_sizes))
        span = first if count == 1 else f"{count} sizes from {first} to {last}"
        failed[f"{subject}, {pattern} of {span}"] = reason
    return failed


def _subjects(plan: Plan) -> tuple[list[Subject], dict[str, str]]:
    """Return the subjects of the plan, and why others are missing: the reason by name."""
    subjects: list[Subject] = []
    failed: dict[str, str] = {}
    for transport in _transports(plan):
        if not transport.started_by_mpi:
            subjects.append(local_subject(transport))
            continue
        try:
            started_subjects, refused = _started_by_mpi(plan, transport)
        except MissingError as error:
            if len(plan.transports) == 1:
                raise
            failed[transport.name] = str(error)
            continue
        subjects += started_subjects
        failed |= refused
    if not subjects:
        reasons = "; ".join(failed.values())
        raise MissingError(f"nothing to measure: {reasons}", "run nhalf doctor")
    return subjects, failed


def _transports(plan: Plan) -> list[TransportFile]:
    """Return the transports of a plan, and programs with only the kernels that it names."""
    files = map(transport_file, plan.transports)
    return [with_kernels(file, plan.patterns) if file.app else file for file in files]


def _started_by_mpi(plan: Plan, transport: TransportFile) -> tuple[list[Subject], dict[str, str]]:
    """Return the subjects of a transport that MPI starts, and why others are missing.

    There is one on every library and under each of its settings, or only one on the first library
    that starts it if one suffices.
    """
    subjects: list[Subject] = []
    failed: dict[str, str] = {}
    gpu = asks_for_gpu(block.axes.get(MEMORY, "") for block in plan.blocks)
    for library in candidates(plan, transport):
        try:
            plain = library_subject(for_gpu(library) if gpu else library, transport)
        except NhalfError as error:
            name = library.name if transport == MPI else f"{transport.name} on {library.name}"
            failed[name] = str(error)
            continue
        # The probe is the plain library's: a setting changes how it runs, not how it is built.
        subjects += [plain, *map(plain.under, _settings(plan, plain))]
        if needs_one(plan, transport):
            return subjects, {}
    return subjects, failed


def _settings(plan: Plan, plain: Subject) -> Iterator[Setting]:
    """Yield the settings under which a subject is also measured.

    Raises InputError for an option that its transport does not have.
    """
    for setting in plan.settings:
        if setting.transport == plain.transport:
            names = [option["name"] for option in plain.description["options"]]
            for name in setting.options:
                if name not in names:
                    raise unknown(f"option of transport {plain.transport}", name, names)
            yield setting
        elif not setting.transport and plain.mpi and setting.only in ("", plain.mpi):
            yield setting


def programs(plan: Plan) -> dict[str, Any]:
    """Describe the application programs of a plan, as run.json keeps them."""
    files = {name: transport_file(name) for name in plan.transports}
    descriptions = {
        name: file.described_program(plan.app)
        for name, file in files.items()
        if file.app or plan.app
    }
    return {"programs": descriptions} if descriptions else {}


def _variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of a plan's settings, as run.json keeps them."""
    variables = {setting.name: setting.variables for setting in plan.settings}
    return {"settings": variables} if variables else {}
