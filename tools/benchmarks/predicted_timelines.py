"""How long does a prediction from a long timeline take, beside SimGrid's replay of it?

Processor time of the whole command, reading included, so that a busy machine disturbs little.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.long_timelines import TIMELINES
from benchmarks.pages import table

MACHINES = "sp2-mpl,altix-bx2,myrinet-gm,opteron-myrinet"
FIRST = MACHINES.split(",", maxsplit=1)[0]
EVENTS = 10_000_000
BESIDE = 100_000
"""SimGrid replays fewer."""
NOTE = """Processor time of `nhalf predict`, in seconds, reading and starting included; the best \
of {runs} runs. *Four machines* is a table of four, some of which have to guess operations. *Peak* \
is the most memory at once, in GB. SimGrid does the same for one machine by `--simgrid`."""


def measure(runs: int) -> tuple[Any, str]:
    """Each timeline in full, and a shorter one beside SimGrid."""
    tries = min(runs, 3)
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for kind, stored in TIMELINES.items():
            long, short = Path(name) / f"{kind}-long", Path(name) / f"{kind}-short"
            for events, folder in ((EVENTS, long), (BESIDE, short)):
                # A command begins with the peak of the process that starts it.
                writer = multiprocessing.get_context("spawn").Process(
                    target=stored, args=(events, folder)
                )
                writer.start()
                writer.join()
            one_s, one_gb = _best(tries, long, FIRST)
            four_s, four_gb = _best(tries, long, MACHINES)
            rows[kind] = {
                "one_s": one_s,
                "four_s": four_s,
                "peak_gb": max(one_gb, four_gb),
                "short_s": _best(tries, short, FIRST)[0],
                "simgrid_s": _best(tries, short, FIRST, "--simgrid")[0],
            }
    page = table(
        "Predictions from long timelines",
        NOTE.format(runs=tries),
        [
            "timeline",
            "ten million events",
            "four machines",
            "peak",
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


def _best(tries: int, folder: Path, machines: str, *options: str) -> tuple[float, float]:
    """The least processor time of the command, and its least peak of memory in GB."""
    words = [sys.executable, "-m", "nhalf", "predict", str(folder), "--machine", machines]
    times_s, peaks_gb = zip(*(_used([*words, *options]) for _ in range(tries)), strict=True)
    return min(times_s), min(peaks_gb)


def _used(words: list[str]) -> tuple[float, float]:
    """Processor time of a command and its children, and its peak in GB; it has to succeed."""
    command = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode:
        raise SystemExit(f"bench: {' '.join(words)} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9
