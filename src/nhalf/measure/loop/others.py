"""How much of this machine's cores other processes use while a launch runs."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable
from pathlib import Path

STAT = Path("/proc/stat")
BUSY = (1, 2, 3, 6, 7, 8)
"""Words of a line of a core: user, nice, system, interrupts, soft ones, and what the host of a
virtual machine took (proc(5))."""


def busy_ticks(text: str, cores: Iterable[int]) -> int:
    """The ticks of the clock that some cores were busy, from the text of /proc/stat.

    Raises ValueError or IndexError for another form.
    """
    names = {f"cpu{core}" for core in cores}
    rows = [words for words in map(str.split, text.splitlines()) if words and words[0] in names]
    if len(rows) < len(names):
        raise ValueError("a core is missing")
    return sum(int(row[place]) for row in rows for place in BUSY)


class OthersWatch:
    """Counts from its making: what was busy, less this process and its children that ended."""

    def __init__(self) -> None:
        self.allowed = len(os.sched_getaffinity(0))
        self._began = self._now()

    def cores(self) -> float | None:
        """The cores that others kept busy in the mean; None where the system does not tell."""
        began, now = self._began, self._now()
        if began is None or now is None or now[0] <= began[0]:
            return None
        seconds, busy_s, own_s = (end - begin for begin, end in zip(began, now, strict=True))
        return min(float(self.allowed), max(0.0, (busy_s - own_s) / seconds))

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        try:
            ticks = busy_ticks(STAT.read_text(), os.sched_getaffinity(0))
        except (OSError, ValueError, IndexError):
            return None
        usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        own_s = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), own_s
