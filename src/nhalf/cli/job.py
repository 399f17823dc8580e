"""A run as a job of a batch system, or in an allocation, where srun is used outside one."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from nhalf.base.errors import Interrupted, MissingError
from nhalf.base.printable import say
from nhalf.cli.lazy import lazily
from nhalf.jobs.request import RunRequest
from nhalf.present.terminal.output import emit_json

if TYPE_CHECKING:
    from nhalf.measure.apps import AppRequest
    from nhalf.store.run import Run

with lazily(globals()):
    from nhalf.jobs.follow import JobStatus, collected, follow
    from nhalf.jobs.job import resume_command
    from nhalf.jobs.submit import submitted
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress


def run_as_job(request: RunRequest, *, json: bool, silent: bool) -> RunOutcome | None:
    """Submit the run and follow it to its end; None if the request does not wait for it."""
    job = submitted(request)
    if not silent:
        hosts = "1 host" if job.record.nodes == 1 else f"{job.record.nodes} hosts"
        say(f"job {job.record.job}  {hosts}  {job.run}")
    if request.no_wait:
        if json:
            emit_json({"job": job.record.job, "run": str(job.run)})
        else:
            sys.stdout.write(f"job {job.record.job}\nrun {job.run}\n")
        return None
    status: JobStatus | None = None
    try:
        with Progress(quiet=silent) as progress:
            shown_state = ""
            for status in follow(job.system, job.record.job, job.run, job.record.ends):
                shown_state = _show(
                    status, progress, shown_state, talks=not (silent or sys.stderr.isatty())
                )
    except KeyboardInterrupt:
        raise Interrupted(
            f"job {job.record.job} goes on by itself",
            f"look again with: {resume_command(job.run)}; or cancel it with: "
            f"{job.system.cancelling(job.record.job)}",
        ) from None
    assert status is not None
    return collected(job, status)


def _show(status: JobStatus, progress: Progress, shown_state: str, *, talks: bool) -> str:
    """Show the job's state: a bar on terminals, elsewhere a line whenever the state changes."""
    state = str(status.state or "forgotten")
    if talks and state != shown_state:
        say(state)
    if status.planned:
        progress.reached(status.points, status.planned)
    progress.say(f"{state}  {status.doing}" if status.doing else state)
    return state


FLUX = "flux"
DEFAULT_HOSTS = 4
"""Number of hosts if the user does not specify it: a cluster is shared."""
SRUN = "srun"


def allocate(request: RunRequest | AppRequest) -> None:
    """Become salloc with this very command, where srun is requested outside an allocation.

    The whole run has one allocation: no launch waits in the queue, all have the same hosts, and
    it ends when the run ends, however that happens. A host that dies does not end it. Does
    nothing in any other case; raises MissingError if there is no Slurm, or no instance of Flux.
    """
    if os.environ.get("SLURM_JOB_ID"):
        return
    run = _resumed(request)
    launcher = request.launcher or _planned(run, "launcher")
    if launcher == FLUX and not os.environ.get("FLUX_URI"):
        raise MissingError(
            "flux run has no hosts here", "run inside flux alloc --nodes=2, or with --submit"
        )
    if launcher != SRUN:
        return
    if shutil.which("salloc") is None:
        raise MissingError("srun needs Slurm: salloc is not found", "load Slurm's module")
    hosts = _nodes_option(request.hosts, request.host_file_path, frozenset()) or (
        _remaining_hosts(run) if run else _default_hosts(request)
    )
    words = ["salloc", "--no-kill", "--exclusive", "--job-name=nhalf", *hosts]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp("salloc", [*words, sys.executable, "-P", "-m", "nhalf", *sys.argv[1:]])


def _resumed(request: RunRequest | AppRequest) -> Run | None:
    """The run that is resumed; None for a new run."""
    if request.resume is None:
        return None
    from nhalf.store.run import Run

    return Run.open(request.resume)


def _planned(run: Run | None, name: str) -> str:
    """The value of an option in the plan of a run, '' without a run."""
    return str(run.plan.get(name, "")) if run else ""


def _nodes_option(hosts: str, host_file: str, dead: frozenset[str]) -> list[str]:
    from nhalf.sites.site import find_site

    names = [host.name for host in find_site(hosts, host_file, SRUN).hosts]
    alive = [name for name in names if name not in dead]
    return [f"--nodes={len(alive)}", f"--nodelist={','.join(alive)}"] if alive else []


def _remaining_hosts(run: Run) -> list[str]:
    """Options for as many hosts as a run began with, without those that it lost.

    Slurm may not know yet that they are lost.
    """
    lost = frozenset(event["host"] for event in run.events() if event["event"] == "host")
    nodes_option = _nodes_option(_planned(run, "hosts"), _planned(run, "host_file"), lost)
    if nodes_option:
        return nodes_option
    idle = sum(name not in lost for name in _idle_names())
    nodes = min(int(_planned(run, "hosts_found") or 1), max(idle, 1))
    return [f"--nodes={nodes}", *([f"--exclude={','.join(sorted(lost))}"] if lost else [])]


def _default_hosts(request: RunRequest | AppRequest) -> list[str]:
    """Options for as many hosts as the placements need, or for a few if they do not say."""
    layouts = [placement.layout for placement in request.placements if placement.layout]
    if layouts:
        return [f"--nodes={max(layout.hosts for layout in layouts)}"]
    return [f"--nodes={min(DEFAULT_HOSTS, len(_idle_names()))}"]


def _idle_names() -> list[str]:
    from nhalf.sites.hosts import idle_hosts

    return [host.name for host in idle_hosts().hosts]
