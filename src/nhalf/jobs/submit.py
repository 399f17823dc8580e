# SPDX-License-Identifier: Apache-2.0
"""`nhalf run --submit`: hand the run to the batch system, follow it, tell what came out."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from nhalf.base.errors import (
    FailedError,
    InputError,
    Interrupted,
    MissingError,
    NhalfError,
    unknown,
)
from nhalf.jobs import job as jobs

if TYPE_CHECKING:
    from nhalf.jobs.follow import Look
    from nhalf.measure.loop.ending import Outcome
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.plan.plan import Plan
    from nhalf.sites.batch import BatchSystem, JobState

NOT_OF_THE_JOB = {"submit", "job", "no_wait", "out", "resume", "report", "quiet", "json", "list_"}
"""Options that are the caller's matter, or that the script has by itself."""
CORES_MOST = 1 << 16
"""The cores of hosts that nobody has seen yet; whether ranks have some is checked in the job."""


def check_together(options: dict[str, Any]) -> None:
    """Raises InputError for options of jobs without a job."""
    for name in ("job", "no_wait"):
        if options[name] and not options["submit"]:
            raise InputError(f"--{name.replace('_', '-')} belongs to --submit", "add --submit")


def submitted(context: typer.Context, study: str, given: Collection[str]) -> Outcome | None:
    """Submit the run and follow it to its end; None where nobody wants to wait for it.

    A job of the same run that is under way, or that ended and was not looked at, is followed
    instead. Raises FailedError where the job ended before the run did.
    """
    options = context.params
    name, system = jobs.system_here()
    talks = not (options["quiet"] or options["json"])
    if options["resume"] is None:
        run, record = _begin(context, study, given, (name, system))
    else:
        run = options["resume"].absolute()
        record = _under_way(run, system) or _go_on(run, options, (name, system))
    if talks:
        _say(f"job {record.job}  {record.nodes} hosts  {run}".replace(" 1 hosts", " 1 host"))
    if options["no_wait"]:
        _tell(run, record, as_json=options["json"])
        return None
    return _followed(run, record, system, talks=talks)


def _begin(
    context: typer.Context, study: str, given: Collection[str], system: tuple[str, BatchSystem]
) -> tuple[Path, jobs.Record]:
    """A run of its own, with a directory that waits for it."""
    from nhalf.measure.loop.session import default_folder

    options = context.params
    own = system[1].options(options["job"])
    hosts = _named_hosts(options)
    nodes, budget_s = _needs(study, options, given, system[1].nodes_in(own), len(hosts))
    run = (options["out"] or default_folder()).absolute()
    jobs.check_free(run)
    wanted = jobs.Wanted(
        run=run,
        folder=Path.cwd(),
        nodes=nodes,
        begin=(*_study_word(study), *_words(context, given)),
        hosts=tuple(hosts),
        options=own,
        time_s=jobs.job_time_s(budget_s),
    )
    return run, jobs.submit(*system, wanted)


def _needs(
    study: str, options: dict[str, Any], given: Collection[str], asked: int, named: int
) -> tuple[int, float]:
    """How many hosts a run needs, and its budget in seconds; checks all that can be checked here.

    Hosts are those that the user asks for in numbers or by name, else those of the placement with
    the most hosts. Raises InputError where that has more.
    """
    from nhalf.cli.planning import plan_of, words
    from nhalf.sites.hosts import Host
    from nhalf.sites.placement import check_placement, hosts_asked
    from nhalf.sites.site import Site

    by_user = asked or named
    wanted = 1
    if "placement" in given:
        wanted = max(hosts_asked(check_placement(text)) for text in words(options["placement"]))
    if 0 < by_user < wanted:
        said = f"--nodes={asked}" if asked else "--hosts"
        raise InputError(
            f"--placement {options['placement']} needs {wanted} hosts, and {said} gives {by_user}",
            "ask for more hosts, or for another placement",
        )
    hosts = tuple(Host(f"n{number}", CORES_MOST) for number in range(by_user or wanted))
    plan = plan_of(study, options, given, Site(hosts, options["launcher"]))
    _check_names(plan)
    needed = max((hosts_asked(text) for b in plan.blocks for text in b.placements), default=1)
    return by_user or needed, plan.budget_s


def _check_names(plan: Plan) -> None:
    """Raises InputError for names and sizes that no job could know, before it waits in a queue.

    What libraries can do is seen in the job: here may be none.
    """
    from nhalf.measure.plan.resolve import ALL
    from nhalf.measure.plan.sizes import sizes_of
    from nhalf.measure.probe.subject import plain_subject

    for transport in plan.transports:
        if transport != "mpi":
            plain_subject(transport)
    for block in plan.blocks:
        for ranks in block.ranks:
            sizes_of(block.bytes, ranks)
    known = {}
    with contextlib.suppress(MissingError):
        known = plain_subject("model").infos
    for name in plan.patterns if known and not plan.study else ():
        if name not in known and name != ALL:
            raise unknown("pattern", name, known)


def _under_way(run: Path, system: BatchSystem) -> jobs.Record | None:
    """The job of a run that is still to be followed: it is not over, or nobody saw its end."""
    from nhalf.sites.batch import Unreachable
    from nhalf.store.run import DESCRIPTION, Run

    record = jobs.record_of(run)
    if record is None:
        return None
    try:
        state = system.state(record.job)
    except Unreachable as error:
        raise MissingError(
            f"nobody knows whether job {record.job} of {run} is under way: {error}",
            "try again later",
        ) from error
    if state is not None and not state.phase.is_over:
        return record
    begun = (run / DESCRIPTION).exists()
    unseen = begun and not record.collected and Run.open(run).ends() > record.ends
    return record if unseen else None


def _go_on(run: Path, options: dict[str, Any], system: tuple[str, BatchSystem]) -> jobs.Record:
    """Submit the rest of a run: with what its last job asked for, on hosts that are up."""
    from nhalf.measure.plan.plan import read_plan
    from nhalf.store.run import DESCRIPTION, Run

    before = jobs.record_of(run)
    begun = (run / DESCRIPTION).exists()
    if not begun and before is None:
        Run.open(run)  # which says what is wrong with it
    plan = read_plan(Run.open(run).plan) if begun else None
    own = system[1].options(options["job"]) or tuple(before.options if before else ())
    hosts, words = _hosts_to_go_on(options, plan, system[1], own)
    nodes = system[1].nodes_in(own) or len(hosts) or (before.nodes if before else 0)
    if not nodes:
        nodes = max(1, plan.hosts_found if plan else 1)
    usable = len(system[1].usable_hosts(own))
    if usable and not system[1].nodes_in(own):
        nodes = min(nodes, usable)
    budget_s = plan.budget_s if plan else 0.0
    wanted = jobs.Wanted(
        run=run,
        folder=Path(before.folder) if before else Path.cwd(),
        nodes=nodes,
        begin=tuple(before.begin) if before else (),
        resume=tuple(words),
        hosts=tuple(hosts),
        options=own,
        time_s=jobs.job_time_s(budget_s) or (before.time_s if before else 0.0),
    )
    return jobs.submit(*system, wanted)


def _hosts_to_go_on(
    options: dict[str, Any], plan: Any, system: BatchSystem, own: Collection[str]
) -> tuple[list[str], list[str]]:
    """The hosts by name, where they are named, and the words that name them to nhalf."""
    from nhalf.cli.planning import host_file

    words = [f"--launcher={options['launcher']}"] if options["launcher"] else []
    asked = {"hosts": options["hosts"], "host_file": host_file(options)}
    if not any(asked.values()) and plan is not None:
        asked = {"hosts": plan.hosts, "host_file": plan.host_file}
    named = _named_hosts({**asked, "host_file": asked["host_file"] or None})
    if not named:
        return [], words
    hosts = jobs.hosts_up(system, list(own), named)
    if not hosts:
        raise MissingError(f"none of {', '.join(named)} is up", "give others with --hosts")
    return hosts, [*words, f"--hosts={','.join(hosts)}"]


def _named_hosts(options: dict[str, Any]) -> list[str]:
    """The names of the hosts that the user named, by --hosts or in a file."""
    from nhalf.sites.hosts import parse_hosts, read_host_file

    if options["hosts"] and options["host_file"]:
        raise InputError("--hosts and --host-file name hosts twice", "give one of them")
    if options["host_file"]:
        return [host.name for host in read_host_file(Path(options["host_file"]))]
    return [host.name for host in parse_hosts(options["hosts"])] if options["hosts"] else []


def _study_word(study: str) -> tuple[str, ...]:
    """The study as an argument that is no option."""
    return (f"./{study}" if study.startswith("-") else study,) if study else ()


def _words(context: typer.Context, given: Collection[str]) -> list[str]:
    """The options as the user gave them, one word each."""
    words: list[str] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in given or name in NOT_OF_THE_JOB or not parameter.opts[0].startswith("-"):
            continue
        value = context.params[name]
        values = value if isinstance(value, list | tuple) else [value]
        words += [f"{parameter.opts[0]}={one}" for one in values]
    return words


def _followed(run: Path, record: jobs.Record, system: BatchSystem, *, talks: bool) -> Outcome:
    """Wait for the job; an interruption leaves it alone."""
    from nhalf.jobs.follow import follow
    from nhalf.measure.loop.progress import Progress

    look: Look | None = None
    try:
        with Progress(quiet=not talks) as progress:
            said = ""
            for look in follow(system, record.job, run, record.ends):
                said = _show(look, progress, said, talks=talks and not sys.stderr.isatty())
    except KeyboardInterrupt:
        raise Interrupted(
            f"job {record.job} goes on by itself",
            f"look again with: {jobs.going_on(run)}; or cancel it with: "
            f"{system.cancelling(record.job)}",
        ) from None
    assert look is not None
    return _collected(run, record, system, look)


def _show(look: Look, progress: Progress, said: str, *, talks: bool) -> str:
    """Show how it stands: a bar on terminals, elsewhere a line where the state is another."""
    state = str(look.state or "forgotten")
    if talks and state != said:
        _say(state)
    if look.planned:
        progress.reached(look.points, look.planned)
    progress.say(f"{state}  {look.doing}" if look.doing else state)
    return state


def _collected(run: Path, record: jobs.Record, system: BatchSystem, look: Look) -> Outcome:
    """What came out of a job that is over; raises what kept it from its end."""
    from nhalf.measure.loop.ending import last_end
    from nhalf.sites.batch import Phase
    from nhalf.store.run import DESCRIPTION, Run

    # A job that found nothing left to measure adds no end of its own.
    over = look.ends > record.ends or (look.state is not None and look.state.phase is Phase.DONE)
    outcome = last_end(Run.open(run)) if over and (run / DESCRIPTION).exists() else None
    if outcome is not None:
        jobs.keep(run, msgspec.structs.replace(record, collected=True))
        return outcome
    kept = f"{look.points} points are kept" if look.points else "no point was finished"
    how = _how(system, look.state)
    words = jobs.last_words(run, record.output_bytes)
    error = _own_error(look.state, words)
    said = f": {words.removeprefix('error: ')}" if words else ""
    raise error(f"job {record.job} {how}, {kept}{said}", f"go on with: {jobs.going_on(run)}")


def _how(system: BatchSystem, state: JobState | None) -> str:
    """How a job ended, in the system's words."""
    if state is None:
        return f"is not known to {system.title} any more"
    return f"ended as {state}"


def _own_error(state: JobState | None, words: str) -> type[NhalfError]:
    """The kind of error: nhalf's own in the job, a cancellation, or anything else."""
    from nhalf.sites.batch import Phase

    if state is not None and state.phase is Phase.CANCELLED:
        return Interrupted
    if state is not None and words.startswith("error: "):
        return {2: InputError, 3: MissingError}.get(state.exit_code or 0, FailedError)
    return FailedError


def _tell(run: Path, record: jobs.Record, *, as_json: bool) -> None:
    """Where a job is that nobody waits for."""
    from nhalf.present.terminal.output import emit_json

    if as_json:
        emit_json({"job": record.job, "run": str(run)})
    else:
        sys.stdout.write(f"job {record.job}\nrun {run}\n")


def _say(text: str) -> None:
    sys.stderr.write(f"nhalf: {text}\n")
    sys.stderr.flush()
