"""How fast does the model machine simulate, and how much memory does a rank take?"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from benchmarks.pages import table
from nhalf.base.native_files import executable

RANKS = (1024, 4096, 16384, 65536)
SAMPLES = (5, 15)
"""Of a barrier by dissemination; a message's cost is that of the difference."""


@dataclass(frozen=True)
class Used:
    """Seconds of processor time, in the program and in the kernel, and the most memory."""

    processor_s: float
    peak_bytes: int


def measure(runs: int) -> tuple[Any, str]:
    """Barriers of thousands of ranks: fixed work, so that a busy machine disturbs little."""
    rows = []
    for ranks in RANKS:
        messages = (SAMPLES[1] - SAMPLES[0]) * ranks * (ranks.bit_length() - 1)
        pairs = [tuple(barriers(ranks, count) for count in SAMPLES) for _ in range(min(runs, 3))]
        message_s = min(more.processor_s - less.processor_s for less, more in pairs) / messages
        rank_bytes = max(more.peak_bytes for _, more in pairs) / ranks
        rows.append({"ranks": ranks, "message_s": message_s, "rank_bytes": rank_bytes})
    page = table(
        "The model machine with many ranks: barriers by dissemination, one core",
        "Processor time of ten more barriers, measuring them included; the best of "
        f"{min(runs, 3)} runs. LogGOPSim simulates a million events a second (T. Hoefler, "
        "T. Schneider, A. Lumsdaine, *LogGOPSim*, LSAP 2010).",
        ["ranks", "messages per second", "KiB per rank"],
        [
            [str(row["ranks"]), f"{1 / row['message_s']:.3g}", f"{row['rank_bytes'] / 1024:.1f}"]
            for row in rows
        ],
    )
    return {"runs": min(runs, 3), "rows": rows}, page


def barriers(ranks: int, samples: int) -> Used:
    """What one probe takes that times this many barriers."""
    question = f"id=0 pattern=barrier axis.algorithm=dissemination samples_max={samples} "
    with tempfile.TemporaryFile("w+") as questions:
        questions.write(question + f"samples_min={samples}\n")
        questions.seek(0)
        probe = subprocess.Popen(
            [executable("probe-model"), "--ranks", str(ranks)],
            stdin=questions,
            stdout=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(probe.pid, 0)
    probe.returncode = os.waitstatus_to_exitcode(status)
    if probe.returncode:
        raise SystemExit(f"bench: the model machine failed with {ranks} ranks")
    return Used(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
