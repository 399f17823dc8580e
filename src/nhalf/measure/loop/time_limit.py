# SPDX-License-Identifier: Apache-2.0
"""The time that a batch system leaves the job in which a run measures."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable

from nhalf.base.errors import Interrupted

ROOM_S = 15.0
"""So long before a job's end measuring stops: processes that end well take up to ten seconds."""


class TimeUp(Interrupted):
    """The time of the job is nearly up."""


class TimeLimit:
    """When a job has to end; a limit that was extended meanwhile is noticed."""

    def __init__(
        self,
        ask: Callable[[], float | None],
        job: str = "",
        now: Callable[[], float] = time.monotonic,
        began_s: float | None = None,
    ) -> None:
        """`ask` tells the seconds that are left, None for no limit; `job` is what to call it.

        `began_s` is when the run began, on the monotonic clock: a budget runs from then on.
        """
        self.began_s = began_s
        self._ask = ask
        self._now = now
        self._job = job
        self._ends_s = self._asked_s()

    def is_near(self) -> bool:
        """Whether there is no time for another point; asks again before it says so."""
        if self._now() < self._ends_s - ROOM_S:
            return False
        self._ends_s = self._asked_s()
        return self._now() >= self._ends_s - ROOM_S

    def check(self, resuming: str) -> None:
        """Raises TimeUp, with the command that goes on, if the end is near."""
        if self.is_near():
            raise TimeUp(
                f"the time of {self._job} is nearly up; every finished point is kept",
                f"go on in another job with: {resuming}",
            )

    def _asked_s(self) -> float:
        left_s = self._ask()
        return math.inf if left_s is None else self._now() + left_s


UNLIMITED = TimeLimit(lambda: None)
"""What holds outside jobs."""


def time_limit(began_s: float | None = None) -> TimeLimit:
    """That of the job in which this process runs, for a run that began then."""
    from nhalf.sites.batch import systems_known

    for system in systems_known().values():
        job = system.job_here(os.environ)
        if job:
            left_s = functools.partial(system.time_left_s, job, os.environ)
            return TimeLimit(left_s, f"{system.title} job {job}", began_s=began_s)
    return TimeLimit(lambda: None, began_s=began_s)
