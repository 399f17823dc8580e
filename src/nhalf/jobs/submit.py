"""Submit a run to the batch system: a new one, or the rest of an existing one."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError, MissingError, unknown
from nhalf.jobs import job as jobs
from nhalf.jobs.job import BatchJob, JobRecord, JobSpec
from nhalf.measure.loop.session import default_folder
from nhalf.measure.plan.plan import read_plan
from nhalf.measure.plan.planning import plan_of
from nhalf.measure.plan.resolve import ALL
from nhalf.measure.probe.pattern import every_info
from nhalf.measure.probe.subject import transport_file
from nhalf.sites.batch import Unreachable
from nhalf.sites.hosts import Host, named_hosts
from nhalf.sites.site import Site
from nhalf.store.run import DESCRIPTION, Run

if TYPE_CHECKING:
    from nhalf.jobs.request import RunRequest
    from nhalf.measure.plan.plan import Plan
    from nhalf.measure.plan.request import PlanRequest, Where
    from nhalf.sites.batch import BatchSystem


def submitted(request: RunRequest) -> BatchJob:
    """Submit a run, and return its job.

    If a job of the same run is active, or ended without being collected, that job is returned.
    Raises InputError for errors detectable here, MissingError without a batch system.
    """
    if request.resume is None:
        name, system = jobs.system_here(request.batch_system)
        spec = _new_run(request, system)
    else:
        run = request.resume.absolute()
        before = jobs.record_of(run)
        if before is not None:
            _, system = jobs.system_here(before.system)
            if _is_under_way(run, before, system):
                return BatchJob(run, before, system)
        name, system = jobs.system_here(request.batch_system or (before.system if before else ""))
        spec = _resumed_run(run, request, name, system, before)
    return BatchJob(spec.run, jobs.submit(name, system, spec), system)


def _new_run(request: RunRequest, system: BatchSystem) -> JobSpec:
    """Specify the job of a new run, after checking that its directory is free."""
    options = system.options(request.job)
    hosts = host_names(request)
    nodes, budget_s = needs(request, system.nodes_in(options), len(hosts))
    run = (request.out or default_folder()).absolute()
    jobs.check_free(run)
    return JobSpec(
        run=run,
        folder=Path.cwd(),
        nodes=nodes,
        begin=request.begin,
        hosts=tuple(hosts),
        options=options,
        time_s=jobs.job_time_s(budget_s),
    )


def _is_under_way(run: Path, record: JobRecord, system: BatchSystem) -> bool:
    """Whether the job of a run is not over, or its end was not collected."""
    try:
        state = system.state(record.job)
    except Unreachable as error:
        message = f"the state of job {record.job} of {run} could not be determined: {error}"
        raise MissingError(message, "try again later") from error
    if state is not None and not state.phase.is_over:
        return True
    begun = (run / DESCRIPTION).exists()
    return begun and not record.collected and Run.open(run).ends() > record.ends


def _resumed_run(
    run: Path, request: RunRequest, name: str, system: BatchSystem, before: JobRecord | None
) -> JobSpec:
    """Specify the job that continues a run, with its last job's options, on hosts that are up."""
    begun = (run / DESCRIPTION).exists()
    if not begun and before is None:
        Run.open(run)  # which says what is wrong with it
    plan = read_plan(Run.open(run).plan) if begun else None
    same_system = before is not None and before.system == name
    options = system.options(request.job) or tuple(before.options if before and same_system else ())
    hosts, words = hosts_to_resume_on(request, plan, system, options)
    budget_s = plan.budget_s if plan else 0.0
    return JobSpec(
        run=run,
        folder=Path(before.folder) if before else Path.cwd(),
        nodes=_nodes_to_resume_on(system, options, len(hosts), before, plan),
        begin=tuple(before.begin) if before else (),
        resume=tuple(words),
        hosts=tuple(hosts),
        options=options,
        time_s=jobs.job_time_s(budget_s) or (before.time_s if before else 0.0),
    )


def _nodes_to_resume_on(
    system: BatchSystem,
    options: tuple[str, ...],
    named_hosts: int,
    before: JobRecord | None,
    plan: Plan | None,
) -> int:
    """Return the requested number of hosts, else as many usable ones as before."""
    requested_nodes = system.nodes_in(options)
    if requested_nodes:
        return requested_nodes
    nodes = (
        named_hosts or (before.nodes if before else 0) or max(1, plan.hosts_found if plan else 1)
    )
    usable = len(system.usable_hosts(options))
    return min(nodes, usable) if usable else nodes


CORES_MOST = 1 << 16
"""The cores assumed for unknown hosts; the job checks whether ranks have enough."""


def needs(request: PlanRequest, nodes: int, hosts_named: int) -> tuple[int, float]:
    """Return the number of hosts a run needs and its budget in seconds; check all that is possible.

    Hosts are the `nodes` requested or as many as `hosts_named`, else those of the placement that
    needs most. Raises InputError if that is more.
    """
    by_user = nodes or hosts_named
    placement_hosts = 1
    if "placement" in request.given:
        placement_hosts = max(placement.check().hosts for placement in request.placements)
    if 0 < by_user < placement_hosts:
        raise InputError(
            f"--placement {request.placement} needs {placement_hosts} hosts, "
            f"and {'--job' if nodes else '--hosts'} gives {by_user}",
            "ask for more hosts, or for another placement",
        )
    hosts = tuple(Host(f"n{number}", CORES_MOST) for number in range(by_user or placement_hosts))
    plan = plan_of(request, Site(hosts, request.launcher))
    _check_names(plan)
    placements = (placement for block in plan.blocks for placement in block.parsed_placements)
    needed = max((placement.hosts for placement in placements), default=1)
    return by_user or needed, plan.budget_s


def _check_names(plan: Plan) -> None:
    """Raises InputError for names and sizes that are invalid in any job, before it is queued.

    Libraries are checked in the job: there may be none here.
    """
    for transport in plan.transports:
        transport_file(transport)
    for block in plan.blocks:
        for ranks in block.ranks:
            block.sizes_on(ranks)
    patterns = {}
    with contextlib.suppress(MissingError):
        patterns = every_info()
    for name in plan.patterns if patterns and not plan.study else ():
        if name not in patterns and name != ALL:
            raise unknown("pattern", name, patterns, "nhalf run --list")


def host_names(where: Where) -> list[str]:
    """Return the names of the hosts that the user named, by --hosts or in a file."""
    return [host.name for host in named_hosts(where.hosts, where.host_file)]


def hosts_to_resume_on(
    where: Where, plan: Plan | None, system: BatchSystem, options: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the names of the hosts, if named, and the arguments that pass them to nhalf."""
    arguments = [f"--launcher={where.launcher}"] if where.launcher else []
    if not (where.hosts or where.host_file) and plan is not None:
        file = Path(plan.host_file) if plan.host_file else None
        where = replace(where, hosts=plan.hosts, host_file=file)
    names = host_names(where)
    if not names:
        return [], arguments
    usable = set(system.usable_hosts(list(options)))  # none if the system does not report any
    hosts = [host for host in names if host in usable] if usable else names
    if not hosts:
        raise MissingError(f"none of {', '.join(names)} is up", "give others with --hosts")
    return hosts, [*arguments, f"--hosts={','.join(hosts)}"]
