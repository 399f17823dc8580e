# SPDX-License-Identifier: Apache-2.0
"""How often `nhalf check --against` is wrong on this machine: comparisons without a difference.

`python tools/null_comparisons.py FOLDER [--runs 45] [--mpi openmpi]` makes short runs of a library
in FOLDER, where there are not enough yet, and compares sets of them that were drawn at random: as
they are, where every verdict of a regression is a false alarm, and with the times of the second
multiplied by FACTOR, where every other verdict misses one.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nhalf.decide.check.against import TOLERANCE, against_former
from nhalf.decide.check.verdict import worst
from nhalf.facts.facts import Facts
from nhalf.statistics.summary import flagged_medians
from nhalf.store.run import Run

FACTOR = 1.25
COMPARISONS = 200
LAUNCHES = 6
SETS = (1, 2, 3, 4)
"""Runs that are put together: this many times LAUNCHES launches on each side."""
ASKED = ("--pattern", "pingpong", "--ranks", "2", "--bytes", "0,8,64,512,4K,32K", "--budget", "4")
TIMEOUT_S = 300


def main(arguments: Sequence[str]) -> int:
    """Measure what is missing, compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=45)
    parser.add_argument("--mpi", default="openmpi")
    chosen = parser.parse_args(arguments)
    frames = [measured(chosen.folder / str(i + 1), chosen.mpi) for i in range(chosen.runs)]
    random.seed(3)
    sys.stdout.write("| launches | false alarms | 1.25 times found | of |\n|---:|---:|---:|---:|\n")
    for runs in SETS:
        alarms, found = (verdicts(frames, runs, factor)["missed"] for factor in (1.0, FACTOR))
        row = f"| {runs * LAUNCHES} | {alarms} | {found} | {COMPARISONS} |\n"
        sys.stdout.write(row)
        sys.stdout.flush()
    return 0


def measured(path: Path, mpi: str) -> pl.DataFrame:
    """The measurements of a run, made now where it is not there."""
    if not path.exists():
        words = ["run", "--mpi", mpi, *ASKED, "--launches", str(LAUNCHES), "--out", str(path)]
        command = [sys.executable, "-m", "nhalf", *words, "--quiet"]
        subprocess.run(command, check=True, timeout=TIMEOUT_S)
    return Run.open(path).measurements().collect()


def verdicts(frames: Sequence[pl.DataFrame], runs: int, factor: float) -> Counter[str]:
    """The verdicts of COMPARISONS comparisons of this many runs with as many others."""
    found: Counter[str] = Counter()
    for _ in range(COMPARISONS):
        drawn = random.sample(range(len(frames)), 2 * runs)
        before, now = together(frames, drawn[:runs]), together(frames, drawn[runs:])
        slower = pl.col("samples_s").list.eval(pl.element() * factor)
        former = flagged_medians(before)
        subject = Facts(now.with_columns(samples_s=slower))
        answers = against_former(subject, former, TOLERANCE).answers
        found[worst([answer.verdict for answer in answers])] += 1
    return found


def together(frames: Sequence[pl.DataFrame], drawn: Sequence[int]) -> pl.LazyFrame:
    """Several runs as one, with launches numbered through."""
    parts = [
        frames[i].with_columns(launch=pl.col("launch") + LAUNCHES * k, run=pl.lit("together"))
        for k, i in enumerate(drawn)
    ]
    return pl.concat(parts).lazy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
