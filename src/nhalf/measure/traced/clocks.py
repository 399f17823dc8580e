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

from nhalf.measure.traced.layout import ThreadFile


@dataclass(frozen=True)
class Clock:
    """A process's clock: one moment on it, in seconds since the command began, and a tick."""

    ticks: int
    at_s: float
    tick_s: float

    def seconds(self, ticks: Any) -> Any:
        """Moments in seconds; `ticks` are unsigned, of any shape."""
        return self.at_s + (np.asarray(ticks, np.int64) - self.ticks) * self.tick_s


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
    """The clock of some threads, from the longest time that one of them looked at both."""
    heads = [one.head for one in threads]
    head = max(heads, key=lambda one: int(one["last_ns"]) - int(one["begin_ns"]))
    elapsed_ns = int(head["last_ns"]) - int(head["begin_ns"])
    ticks = int(head["last_ticks"]) - int(head["begin_ticks"])
    return Clock(
        int(head["begin_ticks"]),
        (int(head["begin_ns"]) - begin_ns) * 1e-9,
        elapsed_ns * 1e-9 / ticks if ticks > 0 else 1e-9,
    )
