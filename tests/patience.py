"""How slow this machine is at the moment, and how long a test that waits should wait, therefore.

`python -m tests.patience 300` prints it for ctest, in whole seconds.
"""

from __future__ import annotations

import os
import sys
import time

WORK = 250_000
REFERENCE_S = 0.008
"""What the work takes on the machine for which limits in the tests are chosen, when it is quiet."""
ROUNDS = 6
"""Together longer than a scheduler lets one process compute: who shares a core takes turns."""
FRESH_S = 15.0

_measured: tuple[float, float] = (float("-inf"), 1.0)


def _work() -> None:
    total = 0
    for number in range(WORK):
        total += number & 7


def slowness() -> float:
    """How many times longer than on the quiet reference machine work takes here now; at least 1."""
    global _measured  # noqa: PLW0603
    if time.monotonic() - _measured[0] > FRESH_S:
        began_s = time.monotonic()
        for _ in range(ROUNDS):
            _work()
        worked_s = time.monotonic() - began_s
        _measured = (time.monotonic(), max(1.0, worked_s / ROUNDS / REFERENCE_S))
    return _measured[1]


def patience_s(quiet_s: float) -> float:
    """How long to wait for what takes at most `quiet_s` on the quiet reference machine."""
    waiting = os.getloadavg()[0] / len(os.sched_getaffinity(0))
    return quiet_s * max(slowness(), waiting)


def duration(quiet_s: float) -> str:
    """The same for an option of nhalf, such as --budget."""
    return f"{patience_s(quiet_s):.0f}s"


if __name__ == "__main__":
    print(round(patience_s(float(sys.argv[1]))))
