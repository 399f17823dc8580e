"""From the ticks of processes to seconds since the command began.

Ticks are those of the host, so its processes share one clock, even if the time of day was set
meanwhile: the order of their calls is known with the precision of a tick.
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
    """A process's clock: one moment in ticks and in seconds since the command began, and a tick."""

    ticks: int
    at_s: float
    tick_s: float

    def seconds(self, ticks: Any) -> Any:
        """Convert unsigned ticks of any shape to seconds."""
        return self.at_s + (np.asarray(ticks, np.int64) - self.ticks) * self.tick_s


VIRTUAL = Clock(ticks=0, at_s=0.0, tick_s=1e-12)
"""That of ranks in virtual time, which begins with the command and is counted in picoseconds."""
STEADY_SINCE = 2
"""The first version of files that also have a steady clock."""
TICK_S, TICK_MIN_S, TICK_MAX_S = 1e-9, 1e-11, 1e-5
"""Assumed tick if none passed, and the shortest and longest plausible tick of a counter."""
APART_S = 0.02
APART = 1e-3
"""Allowed difference between a process's clock and its host's: seconds, and a share of the time."""


def agrees(shared: Clock, own: Clock, threads: Iterable[ThreadFile]) -> bool:
    """Whether a process has the ticks of its host; different hosts may have the same name."""
    for thread in threads:
        for name in ("begin_ticks", "last_ticks"):
            own_s = float(own.seconds(int(thread.head[name])))
            apart_s = abs(float(shared.seconds(int(thread.head[name]))) - own_s)
            if apart_s > APART_S + APART * abs(own_s):
                return False
    return True


def clock_of(threads: Iterable[ThreadFile], begin_ns: int) -> Clock:
    """Derive a clock from the thread with the longest time between two readings of both clocks.

    Raises InputError for an implausible tick.
    """
    threads_by_ns = [(elapsed_ns(thread), thread) for thread in threads]
    longest_ns, longest = max(threads_by_ns, key=lambda pair: pair[0])
    head = longest.head
    ticks = int(head["last_ticks"]) - int(head["begin_ticks"])
    tick_s = longest_ns * 1e-9 / ticks if ticks > 0 else TICK_S
    if ticks < 0 or not TICK_MIN_S <= tick_s <= TICK_MAX_S:
        raise InputError(
            f"the clocks of {longest.path} do not agree: {ticks} ticks in {longest_ns} ns", REMEDY
        )
    return Clock(int(head["begin_ticks"]), (int(head["begin_ns"]) - begin_ns) * 1e-9, tick_s)


def elapsed_ns(thread: ThreadFile) -> int:
    """Return the time from first to last reading of a thread, by the steady clock if recorded."""
    name = "ns" if int(thread.head["version"]) < STEADY_SINCE else "steady_ns"
    return int(thread.head[f"last_{name}"]) - int(thread.head[f"begin_{name}"])
