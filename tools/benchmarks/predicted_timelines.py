"""How long does a prediction from a long timeline take, beside SimGrid's replay of it?

Processor time of the whole command, reading included, so that a busy machine disturbs little.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.long_timelines import TIMELINES
from benchmarks.pages import table

MACHINES = "sp2-mpl,altix-bx2,myrinet-gm"
FIRST = MACHINES.split(",", maxsplit=1)[0]
EVENTS = 1_000_000
BESIDE = 100_000
"""SimGrid replays fewer."""
NOTE = """Processor time of `nhalf predict`, in seconds, reading and starting included; the best \
of {runs} runs. *Three machines* is a table of three, some of which have to guess operations; \
all replays of a machine go side by side. SimGrid does the same for one machine by `--simgrid`."""


def measure(runs: int) -> tuple[Any, str]:
    """Each timeline in full, and a shorter one beside SimGrid."""
    tries = min(runs, 3)
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for kind, stored in TIMELINES.items():
            long = stored(EVENTS, Path(name) / f"{kind}-long")
            short = stored(BESIDE, Path(name) / f"{kind}-short")
            rows[kind] = {
                "one_s": _best_s(tries, long, FIRST),
                "three_s": _best_s(tries, long, MACHINES),
                "short_s": _best_s(tries, short, FIRST),
                "simgrid_s": _best_s(tries, short, FIRST, "--simgrid"),
            }
    page = table(
        "Predictions from long timelines",
        NOTE.format(runs=tries),
        [
            "timeline",
            "a million events",
            "three machines",
            "100,000 events",
            "with SimGrid",
            "SimGrid over nhalf",
        ],
        [
            [
                kind,
                *(f"{seconds:.1f}" for seconds in row.values()),
                f"{row['simgrid_s'] / row['short_s']:.1f}",
            ]
            for kind, row in rows.items()
        ],
    )
    return {"runs": tries, "events": EVENTS, "beside": BESIDE, "rows": rows}, page


def _best_s(tries: int, folder: Path, machines: str, *options: str) -> float:
    """The least processor time of the command."""
    words = [sys.executable, "-m", "nhalf", "predict", str(folder), "--machine", machines]
    return min(_processor_s([*words, *options]) for _ in range(tries))


def _processor_s(words: list[str]) -> float:
    """The processor time of a command and its children; it has to succeed."""
    command = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode:
        raise SystemExit(f"bench: {' '.join(words)} failed")
    return used.ru_utime + used.ru_stime
