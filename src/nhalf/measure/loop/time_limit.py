"""The time that a batch system leaves the job in which a run measures."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable

from nhalf.base.errors import Interrupted

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
