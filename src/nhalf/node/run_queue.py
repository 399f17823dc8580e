"""How long the threads of a process waited while other programs had their cores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Waited:
    """Nanoseconds that all threads of a process ran so far, and waited for a core to run on."""

    ran_ns: int = 0
    waited_ns: int = 0

    def share_until(self, later: Waited) -> float | None:
        """The share of the time until `later` that threads waited; None if neither is known."""
        ran_ns, waited_ns = later.ran_ns - self.ran_ns, later.waited_ns - self.waited_ns
        total_ns = ran_ns + waited_ns
        return waited_ns / total_ns if total_ns > 0 and waited_ns >= 0 else None


def waited(process: int, proc: Path = PROC) -> Waited:
    """What the system reports of a process; zeros if it does not count, or there is none."""
    ran_ns = waited_ns = 0
    for file in sorted((proc / str(process) / "task").glob("*/schedstat")):
        try:
            ran, waiting, _ = map(int, file.read_text("utf-8").split())
        except (OSError, ValueError):
            continue
        ran_ns += ran
        waited_ns += waiting
    return Waited(ran_ns, waited_ns)
