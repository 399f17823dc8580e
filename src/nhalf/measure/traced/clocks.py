# SPDX-License-Identifier: Apache-2.0
"""From the ticks of a process to seconds since the command began."""

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


def clock_of(threads: Iterable[ThreadFile], begin_ns: int) -> Clock:
    """The clock of a process, from the longest time that one of its threads looked at both."""
    heads = [one.head for one in threads]
    head = max(heads, key=lambda one: int(one["last_ns"]) - int(one["begin_ns"]))
    elapsed_ns = int(head["last_ns"]) - int(head["begin_ns"])
    ticks = int(head["last_ticks"]) - int(head["begin_ticks"])
    return Clock(
        int(head["begin_ticks"]),
        (int(head["begin_ns"]) - begin_ns) * 1e-9,
        elapsed_ns * 1e-9 / ticks if ticks > 0 else 1e-9,
    )
