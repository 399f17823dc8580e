"""Follow a job and collect it: its state from the scheduler, its progress from the journal."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nhalf.base.carrier import carrier
from nhalf.base.errors import FailedError, InputError, Interrupted, MissingError, NhalfError
from nhalf.base.units import format_size
from nhalf.base.unreadable import UNREADABLE
from nhalf.jobs.job import BatchJob, last_words, resume_command, write_record
from nhalf.measure.loop.ending import RunOutcome, last_end
from nhalf.sites.batch import BatchSystem, JobState, Phase, Unreachable
from nhalf.store.journal import Tail
from nhalf.store.run import DESCRIPTION, JOURNAL, Run

PAUSE_S = 1.0
"""Interval between reads of the journal."""
ASK_LEAST_S, ASK_MOST_S = 2.0, 15.0
"""Interval between scheduler queries: longer while a job waits long, to limit its load."""
ASK_SHARE = 0.02
AWAY_MAX_S = 900.0
"""The longest tolerated outage of a scheduler."""
LATE_MAX_S = 5.0
"""How long after the scheduler a file system may show a job's last lines."""


@dataclass(frozen=True)
class JobStatus:
    """The state of a job: `points` of `planned` (0: not known yet), `ends` of its run so far."""

    state: JobState | None
    points: int = 0
    planned: int = 0
    ends: int = 0
    doing: str = ""


class _Event(msgspec.Struct):
    """The fields of an event that following needs."""

    event: str
    points: int = 0
    mpi: str = ""
    transport: str = ""
    pattern: str = ""
    bytes: int = 0


class Watched:
    """A journal written by another process."""

    def __init__(self, run: Path) -> None:
        self._tail = Tail(run / JOURNAL)
        self._decode = msgspec.json.Decoder(_Event).decode
        self.points = self.planned = self.ends = 0
        self.doing = ""

    def read(self) -> None:
        """Read new events since the last call; events of other forms are skipped."""
        for line in self._tail.lines():
            try:
                event = self._decode(line)
            except UNREADABLE:
                continue
            if event.event == "point":
                self.points += 1
                size = format_size(event.bytes)
                self.doing = f"{carrier(event.mpi, event.transport)}  {event.pattern} {size}"
            elif event.event == "planned":
                self.planned = self.points + event.points
            elif event.event == "end":
                self.ends += 1

    def status(self, state: JobState | None) -> JobStatus:
        """The status of the job in this state."""
        return JobStatus(state, self.points, self.planned, self.ends, self.doing)


def follow(
    system: BatchSystem,
    job: str,
    run: Path,
    ends_before: int,
    *,
    pause: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[JobStatus]:
    """Yield the job's status repeatedly until it is over; the last one is its end.

    A job that the scheduler has forgotten has ended in an unknown way: its state is then None.
    Raises MissingError if the scheduler does not answer for longer than AWAY_MAX_S.
    """
    watched = Watched(run)
    began_s = answered_s = asked_s = now()
    state: JobState | None = None
    first = True
    while True:
        pause_s = min(ASK_MOST_S, max(ASK_LEAST_S, ASK_SHARE * (now() - began_s)))
        if first or now() - asked_s >= pause_s:
            first, asked_s = False, now()
            try:
                state = system.state(job)
                answered_s = now()
                over = state is None or state.phase.is_over
            except Unreachable as error:
                over = False
                _check_away(now() - answered_s, system, job, error)
            if over:
                break
        watched.read()
        yield watched.status(state)
        pause(PAUSE_S)
    is_done = state is not None and state.phase is Phase.DONE
    ended_s = now()
    watched.read()
    while is_done and watched.ends <= ends_before and now() - ended_s < LATE_MAX_S:
        pause(PAUSE_S)
        watched.read()
    yield watched.status(state)


def _check_away(away_s: float, system: BatchSystem, job: str, error: Unreachable) -> None:
    if away_s > AWAY_MAX_S:
        raise MissingError(
            f"{system.title} does not answer for {away_s / 60:.0f} min ({error}); job {job} may "
            "still run",
            "follow it again later",
        ) from error


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
    ended = (
        f"ended as {status.state}" if status.state else f"is unknown to {job.system.title} any more"
    )
    words = last_words(run, record.output_bytes)
    error = _own_error(status.state, words)
    last_line = f": {words.removeprefix('error: ')}" if words else ""
    raise error(
        f"job {record.job} {ended}, {points_text}{last_line}", f"go on with: {resume_command(run)}"
    )


def _own_error(state: JobState | None, words: str) -> type[NhalfError]:
    """Return the kind of error: nhalf's own in the job, a cancellation, or any failure."""
    if state is not None and state.phase is Phase.CANCELLED:
        return Interrupted
    if state is not None and words.startswith("error: "):
        return {2: InputError, 3: MissingError}.get(state.exit_code or 0, FailedError)
    return FailedError
