"""What does watching a program cost it, and how much of a processor does it take?

The program runs under `nhalf trace`, with and without someone who watches it, in turns. The
processor time of the watcher is that of its loop, once it has begun; Python's start is apart.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages import table
from nhalf.cli.verbs.watch import Watch
from nhalf.mpi.discover import find
from nhalf.sites.start import cores, start
from nhalf.statistics.intervals import ratio_interval

SOURCE = Path(__file__).resolve().parents[2] / "tests" / "native" / "bench" / "watched.c"
RANKS_MAX = 4
STEPS = 120_000
"""About a minute on a core for each rank."""


@dataclass(frozen=True)
class Launch:
    """What the program took, and a watcher's processor time and time."""

    took_s: float
    used_s: float = 0.0
    watched_s: float = 0.0


def measure(runs: int) -> tuple[Any, str]:
    """Launches in turns, whose ratios are taken one by one."""
    library = find("mpich")
    ranks = min(RANKS_MAX, cores())
    with tempfile.TemporaryDirectory() as name:
        program = Path(name, "watched")
        compiler = library.prefix / "bin" / "mpicc_abi"
        words = [str(compiler), "-O2", str(SOURCE), "-o", str(program)]
        subprocess.run(words, check=True, env={**os.environ, **library.environment})
        prepared = start(library, [str(program), str(STEPS)], ranks)
        alone: list[Launch] = []
        watched: list[Launch] = []
        for number in range(runs):
            for launches in (alone, watched) if number % 2 else (watched, alone):
                out = Path(name, f"{number}-{launches is watched}")
                command = [sys.executable, "-m", "nhalf", "trace", "--quiet", "--out", str(out)]
                surroundings = {**os.environ, **prepared.environment}
                full = [*command, "--", *prepared.command]
                with subprocess.Popen(
                    full, env=surroundings, stdout=subprocess.PIPE, text=True
                ) as job:
                    used_s, watched_s = _watch(out) if launches is watched else (0.0, 0.0)
                    told, _ = job.communicate()
                launches.append(Launch(float(told.split()[0]), used_s, watched_s))
    ratio = ratio_interval([b.took_s / a.took_s for a, b in zip(alone, watched, strict=True)])
    share = statistics.median(launch.used_s / launch.watched_s for launch in watched)
    figures = {
        **{"ranks": ranks, "runs": runs, "watched_s": [launch.watched_s for launch in watched]},
        **{"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high},
        "processor_share": share,
    }
    page = table(
        f"What it costs to be watched, {ranks} ranks, {runs} launches of each in turn",
        "Time of a traced program with a watcher over that without, with its 95 % interval; and "
        "the processor time of the watcher's loop in the time that it watched.",
        ["times as long", "interval", "share of a processor"],
        [[f"{ratio.median:.4f}", f"{ratio.low:.4f} to {ratio.high:.4f}", f"{share * 100:.3f} %"]],
    )
    return figures, page


def _watch(folder: Path) -> tuple[float, float]:
    """Watch to the program's end; the processor time of the looks, and their time."""
    watch = Watch(folder)
    watch.wait(60.0)
    lines = watch.lines(3600.0)
    next(lines)
    used_s, began_s = time.process_time(), time.monotonic()
    for _ in lines:
        pass
    return time.process_time() - used_s, time.monotonic() - began_s
