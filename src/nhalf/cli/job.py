"""`nhalf run --submit` on the terminal: submit the run, follow it and collect its results."""

from __future__ import annotations

import sys

from nhalf.base.errors import Interrupted
from nhalf.cli.lazy import lazily
from nhalf.jobs.request import RunRequest
from nhalf.present.terminal.output import emit_json

with lazily(globals()):
    from nhalf.jobs.collect import collected
    from nhalf.jobs.follow import JobStatus, follow
    from nhalf.jobs.job import BatchJob, resume_command
    from nhalf.jobs.submit import submitted
    from nhalf.measure.loop.ending import RunOutcome
    from nhalf.measure.loop.progress import Progress


def run_as_job(request: RunRequest, *, json: bool, silent: bool) -> RunOutcome | None:
    """Submit the run and follow it to its end; None if the request does not wait for it."""
    job = submitted(request)
    if not silent:
        hosts = "1 host" if job.record.nodes == 1 else f"{job.record.nodes} hosts"
        _say(f"job {job.record.job}  {hosts}  {job.run}")
    if request.no_wait:
        _print_job(job, as_json=json)
        return None
    return _followed(job, silent=silent)


def _print_job(job: BatchJob, *, as_json: bool) -> None:
    """Print the identifier and the folder of a job that is not waited for."""
    if as_json:
        emit_json({"job": job.record.job, "run": str(job.run)})
    else:
        sys.stdout.write(f"job {job.record.job}\nrun {job.run}\n")


def _followed(job: BatchJob, *, silent: bool) -> RunOutcome:
    """Wait for the job; an interruption leaves it alone."""
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
        _say(state)
    if status.planned:
        progress.reached(status.points, status.planned)
    progress.say(f"{state}  {status.doing}" if status.doing else state)
    return state


def _say(text: str) -> None:
    sys.stderr.write(f"nhalf: {text}\n")
    sys.stderr.flush()
