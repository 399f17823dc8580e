# SPDX-License-Identifier: Apache-2.0
"""From the ticks of processes to seconds since the command began.

Ticks are those of the host, so its processes share one clock, however the clock of the day was
set meanwhile: what one of them did before another is known as exactly as ticks are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nhalf.base.errors import InputError
from nhalf.measure.traced.layout import REMEDY, ThreadFile


@dataclass(frozen=True)
class Clock:
    """A process's clock: one moment on it, in seconds since the command began, and a tick."""

    ticks: int
    at_s: float
    tick_s: float

    def seconds(self, ticks: Any) -> Any:
        """Moments in seconds; `ticks` are unsigned, of any shape."""
        return self.at_s + (np.asarray(ticks, np.int64) - self.ticks) * self.tick_s


STEADY_SINCE = 2
"""The version of files that also have a clock which nobody sets."""
TICK_S, TICK_MIN_S, TICK_MAX_S = 1e-9, 1e-11, 1e-5
"""A tick where none passed, and the shortest and longest that a counter has."""
APART_S = 0.02
APART = 1e-3
"""What the clock of a process may differ from that of its host, and so much of its time besides."""


def agrees(shared: Clock, own: Clock, threads: Iterable[ThreadFile]) -> bool:
    """Whether a process has the ticks of its host: not where hosts only share a name."""
    for one in threads:
        for name in ("begin_ticks", "last_ticks"):
            own_s = float(own.seconds(int(one.head[name])))
            apart_s = abs(float(shared.seconds(int(one.head[name]))) - own_s)
            if apart_s > APART_S + APART * abs(own_s):
                return False
    return True


def clock_of(threads: Iterable[ThreadFile], begin_ns: int) -> Clock:
    """The clock of some threads, from the longest time that one of them looked at both.

    Raises InputError if a tick cannot be as long as it seems.
    """
    found = [(elapsed_ns(one), one) for one in threads]
    longest_ns, thread = max(found, key=lambda one: one[0])
    head = thread.head
    ticks = int(head["last_ticks"]) - int(head["begin_ticks"])
    tick_s = longest_ns * 1e-9 / ticks if ticks > 0 else TICK_S
    if ticks < 0 or not TICK_MIN_S <= tick_s <= TICK_MAX_S:
        raise InputError(
            f"the clocks of {thread.path} do not agree: {ticks} ticks in {longest_ns} ns", REMEDY
        )
    return Clock(int(head["begin_ticks"]), (int(head["begin_ns"]) - begin_ns) * 1e-9, tick_s)


def elapsed_ns(thread: ThreadFile) -> int:
    """From the first look at the clocks to the last, by the one that nobody sets if it was kept."""
    name = "ns" if int(thread.head["version"]) < STEADY_SINCE else "steady_ns"
    return int(thread.head[f"last_{name}"]) - int(thread.head[f"begin_{name}"])
