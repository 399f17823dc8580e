# SPDX-License-Identifier: Apache-2.0
"""`nhalf run --submit` on the terminal: hand the run over, follow it, tell what came out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nhalf.base.errors import Interrupted

if TYPE_CHECKING:
    from nhalf.jobs.follow import Look
    from nhalf.jobs.job import Job
    from nhalf.jobs.request import RunRequest
    from nhalf.measure.loop.ending import Outcome
    from nhalf.measure.loop.progress import Progress


def run_as_job(request: RunRequest, *, json: bool, silent: bool) -> Outcome | None:
    """Submit the run and follow it to its end; None if nobody wants to wait for it."""
    from nhalf.jobs.submit import submitted

    job = submitted(request)
    if not silent:
        hosts = "1 host" if job.record.nodes == 1 else f"{job.record.nodes} hosts"
        _say(f"job {job.record.job}  {hosts}  {job.run}")
    if request.no_wait:
        _tell(job, as_json=json)
        return None
    return _followed(job, silent=silent)


def _tell(job: Job, *, as_json: bool) -> None:
    """Where a job is that nobody waits for."""
    from nhalf.present.terminal.output import emit_json

    if as_json:
        emit_json({"job": job.record.job, "run": str(job.run)})
    else:
        sys.stdout.write(f"job {job.record.job}\nrun {job.run}\n")


def _followed(job: Job, *, silent: bool) -> Outcome:
    """Wait for the job; an interruption leaves it alone."""
    from nhalf.jobs.collect import collected
    from nhalf.jobs.follow import follow
    from nhalf.jobs.job import going_on
    from nhalf.measure.loop.progress import Progress

    look: Look | None = None
    try:
        with Progress(quiet=silent) as progress:
            said = ""
            for look in follow(job.system, job.record.job, job.run, job.record.ends):
                said = _show(look, progress, said, talks=not (silent or sys.stderr.isatty()))
    except KeyboardInterrupt:
        raise Interrupted(
            f"job {job.record.job} goes on by itself",
            f"look again with: {going_on(job.run)}; or cancel it with: "
            f"{job.system.cancelling(job.record.job)}",
        ) from None
    assert look is not None
    return collected(job, look)


def _show(look: Look, progress: Progress, said: str, *, talks: bool) -> str:
    """Show how it stands: a bar on terminals, elsewhere a line where the state is another."""
    state = str(look.state or "forgotten")
    if talks and state != said:
        _say(state)
    if look.planned:
        progress.reached(look.points, look.planned)
    progress.say(f"{state}  {look.doing}" if look.doing else state)
    return state


def _say(text: str) -> None:
    sys.stderr.write(f"nhalf: {text}\n")
    sys.stderr.flush()
