# SPDX-License-Identifier: Apache-2.0
"""Submit a run to the batch system: a new one, or the rest of an existing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import MissingError
from nhalf.jobs import job as jobs
from nhalf.jobs.needs import hosts_to_go_on, named_hosts, needs
from nhalf.measure.loop.session import default_folder
from nhalf.measure.plan.plan import read_plan
from nhalf.sites.batch import Unreachable
from nhalf.store.run import DESCRIPTION, Run

if TYPE_CHECKING:
    from nhalf.jobs.job import Job, Record
    from nhalf.jobs.request import RunRequest
    from nhalf.measure.plan.plan import Plan
    from nhalf.sites.batch import BatchSystem


def submitted(asked: RunRequest) -> Job:
    """The job of a run, submitted now.

    If a job of the same run is active, or ended without being collected, that job is returned.
    Raises InputError for errors detectable here, MissingError without a batch system.
    """
    name, system = jobs.system_here()
    if asked.resume is None:
        wanted = _to_begin(asked, system)
    else:
        run = asked.resume.absolute()
        record = _under_way(run, system)
        if record is not None:
            return jobs.Job(run, record, system)
        wanted = _to_go_on(run, asked, system)
    return jobs.Job(wanted.run, jobs.submit(name, system, wanted), system)


def _to_begin(asked: RunRequest, system: BatchSystem) -> jobs.Wanted:
    """A new run, with a directory prepared for it."""
    options = system.options(asked.job)
    hosts = named_hosts(asked)
    nodes, budget_s = needs(asked, system.nodes_in(options), len(hosts))
    run = (asked.out or default_folder()).absolute()
    jobs.check_free(run)
    return jobs.Wanted(
        run=run,
        folder=Path.cwd(),
        nodes=nodes,
        begin=asked.begin,
        hosts=tuple(hosts),
        options=options,
        time_s=jobs.job_time_s(budget_s),
    )


def _under_way(run: Path, system: BatchSystem) -> Record | None:
    """The job of a run that still needs following: it is not over, or its end was not collected."""
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


def _to_go_on(run: Path, asked: RunRequest, system: BatchSystem) -> jobs.Wanted:
    """The rest of a run: with the options of its last job, on hosts that are up."""
    before = jobs.record_of(run)
    begun = (run / DESCRIPTION).exists()
    if not begun and before is None:
        Run.open(run)  # which says what is wrong with it
    plan = read_plan(Run.open(run).plan) if begun else None
    options = system.options(asked.job) or tuple(before.options if before else ())
    hosts, words = hosts_to_go_on(asked, plan, system, options)
    budget_s = plan.budget_s if plan else 0.0
    return jobs.Wanted(
        run=run,
        folder=Path(before.folder) if before else Path.cwd(),
        nodes=_nodes_to_go_on(system, options, len(hosts), before, plan),
        begin=tuple(before.begin) if before else (),
        resume=tuple(words),
        hosts=tuple(hosts),
        options=options,
        time_s=jobs.job_time_s(budget_s) or (before.time_s if before else 0.0),
    )


def _nodes_to_go_on(
    system: BatchSystem,
    options: tuple[str, ...],
    named: int,
    before: Record | None,
    plan: Plan | None,
) -> int:
    """The requested number of hosts, else as many as before, from the usable ones."""
    asked = system.nodes_in(options)
    if asked:
        return asked
    nodes = named or (before.nodes if before else 0) or max(1, plan.hosts_found if plan else 1)
    usable = len(system.usable_hosts(options))
    return min(nodes, usable) if usable else nodes
