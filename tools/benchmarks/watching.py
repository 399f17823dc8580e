"""What does watching a program cost it, and does it name the rank that becomes late?

Cost: the program runs under `nhalf trace`, with and without someone who watches it, in turns. The
processor time of the watcher is that of its loop, once it has begun; Python's start is apart.

Late: a program with preloaded collective operations sleeps for its computing, so that few cores are
enough, and at a random moment one rank begins to compute 1.2 to 1.9 times as long.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages import table
from nhalf.cli.verbs.watch import Watch
from nhalf.measure.traced.start import folder_of_ranks
from nhalf.mpi import Library
from nhalf.mpi.discover import find
from nhalf.mpi.preload import preload
from nhalf.sites.start import cores, start
from nhalf.statistics.intervals import ratio_interval

SOURCES = Path(__file__).resolve().parents[2] / "tests" / "native"
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
        program = _compiled(library, "mpicc_abi", SOURCES / "bench" / "watched.c", Path(name))
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


LATE_RANKS = 4
STEP_US = 4000
"""A rank sleeps this long for its computing between two collective operations."""
FROM_S, LATE_S = (4.0, 10.0), 14.0
"""When the rank becomes late, and how long it stays so, to the end of the program."""
FACTORS = 1.2, 1.9
SOON_S = 10.0
"""A name that comes later does not count."""


@dataclass(frozen=True)
class Trial:
    """A rank that became late `factor` times: whether it was named, how long after, and who else.

    `named_s` is -1 where it was not; `wrong` counts namings of others, and of it before.
    """

    rank: int
    factor: float
    from_s: float
    named_s: float
    wrong: int
    load: float


def name_late(runs: int) -> tuple[Any, str]:
    """Trials of programs with preloaded collective operations, each with a late rank of its own."""
    library, drawn = find("mpich"), random.Random()
    with tempfile.TemporaryDirectory() as name:
        program = _compiled(library, "mpicxx_abi", SOURCES / "trace" / "steps.cpp", Path(name))
        trials = [_trial(library, program, Path(name, f"job{run}"), drawn) for run in range(runs)]
    soon = [trial for trial in trials if 0 <= trial.named_s <= SOON_S]
    wrong = sum(trial.wrong for trial in trials)
    waits_s = [trial.named_s for trial in soon]
    figures = {"soon": len(soon), "wrong": wrong, "trials": [asdict(trial) for trial in trials]}
    least, most = (f"{limit(trial.load for trial in trials):.1f}" for limit in (min, max))
    page = table(
        f"Naming a late rank of {LATE_RANKS}, {runs} preloaded programs",
        f"Of a rank that computes {FACTORS[0]} to {FACTORS[1]} times as long from a random moment "
        f"on, and of nobody else. The load of the {cores()} cores was {least} to {most}.",
        [f"named within {SOON_S:.0f} s", "median", "longest", "wrong names"],
        [
            [
                f"{len(soon)} of {runs}",
                f"{statistics.median(waits_s or [-1]):.1f} s",
                f"{max(waits_s, default=-1):.1f} s",
                str(wrong),
            ]
        ],
    )
    return figures, page


def _trial(library: Library, program: Path, folder: Path, drawn: random.Random) -> Trial:
    """Start the program, and watch it to its end."""
    rank, factor = drawn.randrange(LATE_RANKS), drawn.uniform(*FACTORS)
    from_s = drawn.uniform(*FROM_S)
    loaded = preload(library, program).counting_into(folder_of_ranks(folder))
    words = [STEP_US, from_s + LATE_S, rank, from_s, factor]
    command = ["env", *loaded.words, str(program), *map(str, words)]
    prepared = start(library, command, LATE_RANKS, bind=False)
    load = os.getloadavg()[0]
    with subprocess.Popen(prepared.command, env={**os.environ, **prepared.environment}) as job:
        watch = Watch(folder)
        watch.wait(60.0)
        began_s = time.monotonic()
        named_s, wrong = -1.0, 0
        for line in watch.lines(3600.0):
            after_s = time.monotonic() - began_s - from_s
            if " late since " not in line:
                continue
            if line.startswith(f"rank {rank} ") and after_s >= 0:
                named_s = after_s if named_s < 0 else named_s
            else:
                wrong += 1
        job.wait()
    return Trial(rank, factor, from_s, named_s, wrong, load)


def _compiled(library: Library, compiler: str, source: Path, folder: Path) -> Path:
    """A program of the standard ABI."""
    program = folder / source.stem
    words = [str(library.prefix / "bin" / compiler), "-O2", str(source), "-o", str(program)]
    subprocess.run(words, check=True, env={**os.environ, **library.environment})
    return program
