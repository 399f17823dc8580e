"""How near is a prediction for another library to launches of it, and does its interval hold them?

Programs are traced with MPICH and predicted for Open MPI and Intel MPI by a machine file that is
measured first. Launches of all three are made in turns, since machines drift, and judged without
what other programs took of the processors.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pages import table
from benchmarks.traced_launches import PROXIES, Work, kept_folder, nhalf, traced
from nhalf.base.numbers import percent, span
from nhalf.base.units import format_time
from nhalf.decide.program.undisturbed_program import undisturbed_elapsed_s
from nhalf.facts.program.program import Program

TRACED, PREDICTED = "mpich", ("openmpi", "intel")
KERNELS = (
    Work("bt", "W", ranks=1),
    Work("cg", "W"),
    Work("ep", "A"),
    Work("ft", "W"),
    Work("is", "A"),
    Work("lu", "W"),
    Work("mg", "A"),
    Work("sp", "W", ranks=1),
)
"""Whose launches take some tenths of a second to two seconds; BT and SP want a square of ranks."""
WORKS = (*KERNELS, *(Work(name) for name in PROXIES))
PATTERNS = (
    "pingpong,pingping,barrier,bcast,reduce,allreduce,gather,gatherv,allgather,alltoall,alltoallv"
)
MACHINE_LAUNCHES, MACHINE_BUDGET = 3, "150s"
LAUNCHES_MAX = 5


@dataclass(frozen=True)
class Row:
    """A program on a library: predicted (no time where refused), and as launches took, seconds."""

    program: str
    library: str
    predicted_s: float | None
    low_s: float
    high_s: float
    measured_s: tuple[float, ...]
    traced_s: tuple[float, ...]
    doubt_ratio: dict[str, float]

    @property
    def error(self) -> float | None:
        """Predicted over the median of measured launches, minus one; None if refused."""
        return None if self.predicted_s is None else self.predicted_s / median(self.measured_s) - 1

    @property
    def held(self) -> int:
        """How many launches are inside the interval."""
        return sum(self.low_s <= launch_s <= self.high_s for launch_s in self.measured_s)


def measure(runs: int) -> tuple[Any, str]:
    """All programs and libraries; `runs` launches of each, in turns."""
    launches = min(runs, LAUNCHES_MAX)
    folder = kept_folder("libraries")
    load = os.getloadavg()[0]
    machine = _machine(folder)
    for number in range(launches):
        for work in WORKS:
            for vendor in (TRACED, *PREDICTED):
                traced(work, vendor, folder, number)
            sys.stderr.write(f"libraries: launch {number + 1} of {work.title}\n")
    rows = [row for work in WORKS for row in _rows(work, machine, folder, launches)]
    load = max(load, os.getloadavg()[0])
    figures = {
        "launches": launches,
        "load": load,
        "machine": machine.read_text("utf-8"),
        "rows": [{**asdict(row), "error": row.error, "held": row.held} for row in rows],
    }
    shutil.rmtree(folder)
    return figures, page(rows, launches, load)


def _machine(folder: Path) -> Path:
    """The file of this machine, with the messages and operations of all libraries."""
    run, machine = folder / "run", folder / "here.toml"
    if not machine.exists():
        shutil.rmtree(run, ignore_errors=True)
        options = ["--pattern", PATTERNS, "--mpi", ",".join((TRACED, *PREDICTED)), "--ranks", "2"]
        options += ["--launches", str(MACHINE_LAUNCHES), "--budget", MACHINE_BUDGET]
        nhalf("run", *options, "--quiet", "--out", str(run))
        nhalf("fit", str(run), "--out", str(machine))
    return machine


def _rows(work: Work, machine: Path, folder: Path, launches: int) -> list[Row]:
    """A program's prediction for each library, beside its launches."""

    def of(vendor: str) -> list[Program]:
        return [traced(work, vendor, folder, number) for number in range(launches)]

    origin = of(TRACED)
    paths = [str(program.path) for program in origin]
    options = ["--machine", str(machine), "--traced-on", str(machine), "--mpi", "all", "--json"]
    predictions = json.loads(nhalf("predict", *paths, *options))["programs"]
    rows = []
    for vendor in PREDICTED:
        found = next(entry for entry in predictions if entry["mpi"].startswith(vendor))
        rows.append(
            Row(
                work.title,
                vendor,
                found["time_s"],
                found["low_s"],
                found["high_s"],
                tuple(undisturbed_elapsed_s(program) for program in of(vendor)),
                tuple(undisturbed_elapsed_s(program) for program in origin),
                found["doubt_ratio"],
            )
        )
    return rows


NOTE = """Programs were traced {launches} times with MPICH on this machine and predicted for the \
other libraries (`nhalf predict TRACE... --mpi all`), by a machine file that was measured before \
(`nhalf run`, `nhalf fit`); {launches} launches of each library in turns, at a load of {load:.1f} \
on {cores} cores. All times are without what other programs took. Class and ranks: BT and SP on \
one rank, all others on two. Of {count} predictions {refused} are refused; the median error of \
the others is {middle}, the largest {worst}; {held} of {all} launches are inside their intervals."""


def page(rows: Sequence[Row], launches: int, load: float) -> str:
    """The page: each program and library."""
    errors = [abs(row.error) for row in rows if row.error is not None]
    kept = [row for row in rows if row.error is not None]
    note = NOTE.format(
        launches=launches,
        load=load,
        cores=os.cpu_count(),
        count=len(rows),
        refused=len(rows) - len(errors),
        middle=percent(median(errors), 1) if errors else "–",
        worst=percent(max(errors), 1) if errors else "–",
        held=sum(row.held for row in kept),
        all=sum(len(row.measured_s) for row in kept),
    )
    head = ["program", "library", "predicted", "interval", "measured", "from", "error", "held"]
    return table("Another library predicted, beside launches of it", note, head, _cells(rows))


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    return [
        [
            row.program,
            row.library,
            "refused" if row.predicted_s is None else format_time(row.predicted_s),
            span(row.low_s, row.high_s, format_time),
            format_time(median(row.measured_s)),
            span(min(row.measured_s), max(row.measured_s), format_time),
            "–" if row.error is None else percent(row.error, 1, signed=True),
            f"{row.held} of {len(row.measured_s)}",
        ]
        for row in rows
    ]
