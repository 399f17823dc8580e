"""Submit a run to the batch system: a new one, or the rest of an existing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import MissingError
from nhalf.jobs import job as jobs
from nhalf.jobs.needs import hosts_to_resume_on, named_hosts, needs
from nhalf.measure.loop.session import default_folder
from nhalf.measure.plan.plan import read_plan
from nhalf.sites.batch import Unreachable
from nhalf.store.run import DESCRIPTION, Run

if TYPE_CHECKING:
    from nhalf.jobs.job import BatchJob, JobRecord
    from nhalf.jobs.request import RunRequest
    from nhalf.measure.plan.plan import Plan
    from nhalf.sites.batch import BatchSystem


def submitted(request: RunRequest) -> BatchJob:
    """Submit a run, and return its job.

    If a job of the same run is active, or ended without being collected, that job is returned.
    Raises InputError for errors detectable here, MissingError without a batch system.
    """
    name, system = jobs.system_here()
    if request.resume is None:
        spec = _new_run(request, system)
    else:
        run = request.resume.absolute()
        record = _under_way(run, system)
        if record is not None:
            return jobs.BatchJob(run, record, system)
        spec = _resumed_run(run, request, system)
    return jobs.BatchJob(spec.run, jobs.submit(name, system, spec), system)


def _new_run(request: RunRequest, system: BatchSystem) -> jobs.JobSpec:
    """Specify the job of a new run, after checking that its directory is free."""
    options = system.options(request.job)
    hosts = named_hosts(request)
    nodes, budget_s = needs(request, system.nodes_in(options), len(hosts))
    run = (request.out or default_folder()).absolute()
    jobs.check_free(run)
    return jobs.JobSpec(
        run=run,
        folder=Path.cwd(),
        nodes=nodes,
        begin=request.begin,
        hosts=tuple(hosts),
        options=options,
        time_s=jobs.job_time_s(budget_s),
    )


def _under_way(run: Path, system: BatchSystem) -> JobRecord | None:
    """Return the job of a run if it is not over, or its end was not collected; else None."""
    record = jobs.record_of(run)
    if record is None:
        return None
    try:
        state = system.state(record.job)
    except Unreachable as error:
        raise MissingError(
            f"the state of job {record.job} of {run} could not be determined: {error}",
            "try again later",
        ) from error
    if state is not None and not state.phase.is_over:
        return record
    begun = (run / DESCRIPTION).exists()
    unseen = begun and not record.collected and Run.open(run).ends() > record.ends
    return record if unseen else None


def _resumed_run(run: Path, request: RunRequest, system: BatchSystem) -> jobs.JobSpec:
    """Specify the job that continues a run, with its last job's options, on hosts that are up."""
    before = jobs.record_of(run)
    begun = (run / DESCRIPTION).exists()
    if not begun and before is None:
        Run.open(run)  # which says what is wrong with it
    plan = read_plan(Run.open(run).plan) if begun else None
    options = system.options(request.job) or tuple(before.options if before else ())
    hosts, words = hosts_to_resume_on(request, plan, system, options)
    budget_s = plan.budget_s if plan else 0.0
    return jobs.JobSpec(
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
