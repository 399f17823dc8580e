"""Collect a job: its result, or the reason for its failure."""

from __future__ import annotations

import msgspec

from nhalf.base.errors import FailedError, InputError, Interrupted, MissingError, NhalfError
from nhalf.jobs.follow import JobStatus
from nhalf.jobs.job import BatchJob, last_words, resume_command, write_record
from nhalf.measure.loop.ending import RunOutcome, last_end
from nhalf.sites.batch import BatchSystem, JobState, Phase
from nhalf.store.run import DESCRIPTION, Run


def collected(job: BatchJob, status: JobStatus) -> RunOutcome:
    """Return the result of a finished job, given its last status, or raise the error that ended it.

    The error is FailedError if the job ended before the run did, Interrupted if it was cancelled,
    or nhalf's own error in the job if there is one.
    """
    run, record = job.run, job.record
    # A job that found nothing left to measure adds no end event.
    over = status.ends > record.ends or (
        status.state is not None and status.state.phase is Phase.DONE
    )
    outcome = last_end(Run.open(run)) if over and (run / DESCRIPTION).exists() else None
    if outcome is not None:
        write_record(run, msgspec.structs.replace(record, collected=True))
        return outcome
    points_text = f"{status.points} points are kept" if status.points else "no point was finished"
    how = _how(job.system, status.state)
    words = last_words(run, record.output_bytes)
    error = _own_error(status.state, words)
    last_line = f": {words.removeprefix('error: ')}" if words else ""
    raise error(
        f"job {record.job} {how}, {points_text}{last_line}", f"go on with: {resume_command(run)}"
    )


def _how(system: BatchSystem, state: JobState | None) -> str:
    """Describe how a job ended, in the system's words."""
    if state is None:
        return f"is unknown to {system.title} any more"
    return f"ended as {state}"


def _own_error(state: JobState | None, words: str) -> type[NhalfError]:
    """Return the kind of error: nhalf's own in the job, a cancellation, or any failure."""
    if state is not None and state.phase is Phase.CANCELLED:
        return Interrupted
    if state is not None and words.startswith("error: "):
        return {2: InputError, 3: MissingError}.get(state.exit_code or 0, FailedError)
    return FailedError
