"""How a run ended, kept in its journal, and the time that a batch system leaves it."""

import dataclasses
import functools
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nhalf.base.errors import Interrupted
from nhalf.measure.plan.state import END
from nhalf.store.run import Run


@dataclass(frozen=True)
class RunOutcome:
    """A run that ended, and what it lacks.

    `failed` maps libraries or points that could not be measured to the reason; `notes` explains
    what was left out, a line each; `unmeasured` maps patterns to (points without a launch, all
    points); `lost` maps hosts that died while measuring to the reason.
    """

    run: Run
    failed: dict[str, str]
    notes: list[str] = field(default_factory=list)
    unmeasured: dict[str, tuple[int, int]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def keep_end(outcome: RunOutcome) -> None:
    """Append the end of the run to the journal, unless the journal already ends with it."""
    fields = [field.name for field in dataclasses.fields(outcome) if field.name != "run"]
    content = {name: getattr(outcome, name) for name in fields}
    last: dict[str, Any] = next(reversed(outcome.run.events()), {})
    if last.get("event") == END and last_end(outcome.run) == outcome:
        return
    with outcome.run.journal() as journal:
        journal.append({"event": END, **content})


def last_end(run: Run) -> RunOutcome | None:
    """Return the last recorded end of a run; None if it never ended."""
    ends = [event for event in run.events() if event["event"] == END]
    if not ends:
        return None
    field_names = {field.name for field in dataclasses.fields(RunOutcome)}
    content: dict[str, Any] = {
        name: value for name, value in ends[-1].items() if name in field_names
    }
    counts = {pattern: tuple(pair) for pattern, pair in content.pop("unmeasured", {}).items()}
    return RunOutcome(run=run, unmeasured=counts, **content)


ROOM_S = 15.0
"""Measuring stops this long before a job's end: processes take up to ten seconds to end."""


class TimeUp(Interrupted):
    """The time of the job is nearly up."""


class TimeLimit:
    """The time at which a job has to end; notices a limit that was extended meanwhile."""

    def __init__(
        self,
        ask: Callable[[], float | None],
        job: str = "",
        now: Callable[[], float] = time.monotonic,
        began_s: float | None = None,
    ) -> None:
        """Query the limit; `ask` returns the remaining seconds, None without a limit.

        `job` is the job's name in messages, `began_s` when the run and so its budget began, on
        the monotonic clock.
        """
        self.began_s = began_s
        self._ask = ask
        self._now = now
        self._job = job
        self._ends_s = self._asked_s()

    def is_near(self) -> bool:
        """Whether there is no time for another point; queries the limit again before it says so."""
        if self._now() < self._ends_s - ROOM_S:
            return False
        self._ends_s = self._asked_s()
        return self._now() >= self._ends_s - ROOM_S

    def check(self, resuming: str) -> None:
        """Raises TimeUp, with the command that continues the run, if the limit is near."""
        if self.is_near():
            raise TimeUp(
                f"the time of {self._job} is nearly up; every finished point is kept",
                f"go on in another job with: {resuming}",
            )

    def _asked_s(self) -> float:
        left_s = self._ask()
        return math.inf if left_s is None else self._now() + left_s


UNLIMITED = TimeLimit(lambda: None)
"""The limit outside jobs."""


def time_limit(began_s: float | None = None) -> TimeLimit:
    """Return the limit of the job in which this process runs, for a run that began at `began_s`."""
    from nhalf.sites.batch import batch_systems

    for system in batch_systems().values():
        job = system.job_here(os.environ)
        if job:
            left_s = functools.partial(system.time_left_s, job, os.environ)
            return TimeLimit(left_s, f"{system.title} job {job}", began_s=began_s)
    return TimeLimit(lambda: None, began_s=began_s)
