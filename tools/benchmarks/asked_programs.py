"""How near is a prediction with a library's own answers to the program on that library?

Programs of large operations are traced once, with MPICH in virtual time, and predicted for other
machines, placements and libraries; `nhalf try` runs them there. Both are exact, so one run of each
decides.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pages import table
from benchmarks.traced_launches import COMPILERS, kept_folder, nhalf
from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.mpi.discover import find

SOURCE = Path(__file__).with_name("asked_programs.c")
PROGRAMS = ("training", "sharded", "grid", "roots", "halo")
LIBRARIES = ("mpich", "openmpi", "intel")
ORIGIN = "opteron-myrinet"
"""Where they are traced, a rank on each node."""
CELLS = (
    ("altix-bx2", "8x1"),
    ("altix-bx2", "16x2"),
    ("myrinet-gm", "8x1"),
    ("myrinet-gm", "4x2"),
    ("poweredge-ib", "4x2"),
    ("poweredge-ib", "32x1"),
    ("opteron-myrinet", "16x2"),
    ("sp2-mpl", "8x1"),
)
NEAR = 0.05


@dataclass(frozen=True)
class Row:
    """A program on a machine, placement and library: predicted with its interval, and tried."""

    program: str
    library: str
    machine: str
    placement: str
    predicted_s: float | None
    low_s: float
    high_s: float
    tried_s: float
    not_asked: Sequence[str] = ()

    @property
    def error(self) -> float:
        """Predicted over tried, minus one; infinite if it was refused."""
        return float("inf") if self.predicted_s is None else self.predicted_s / self.tried_s - 1

    @property
    def held(self) -> bool:
        """Whether the interval has what was tried."""
        return self.low_s <= self.tried_s <= self.high_s


def measure(runs: int) -> tuple[Any, str]:
    """All cells, programs and libraries; times are exact, so `runs` counts for nothing."""
    del runs
    folder = kept_folder("asked")
    return result([row for cell in CELLS for row in _rows(folder, *cell)])


def result(rows: Sequence[Row]) -> tuple[Any, str]:
    """The figures of rows, and their section of a page."""
    figures = [{**asdict(row), "error": row.error, "held": row.held} for row in rows]
    return {"traced_on": ORIGIN, "rows": figures}, page(rows)


def _rows(folder: Path, machine: str, placement: str) -> Iterator[Row]:
    nodes, each = map(int, placement.split("x"))
    there = ["--machine", machine, "--placement", placement]
    for program in PROGRAMS:
        trace = _traced(folder, program, nodes * each)
        for vendor in LIBRARIES:
            command = [str(_compiled(folder, vendor)), program]
            options = ["--ranks", str(nodes * each), "--mpi", vendor, "--json"]
            tried = json.loads(nhalf("try", *there, *options, "--", *command))
            factor = ["--computing-factor", "1"]  # They sleep instead.
            options = ["--mpi", vendor, "--json", *factor]
            predicted = json.loads(nhalf("predict", str(trace), *there, *options))
            yield Row(
                program,
                vendor,
                machine,
                placement,
                predicted["time_s"],
                predicted["low_s"],
                predicted["high_s"],
                tried["virtual_s"],
                predicted["not_asked"],
            )


def _traced(folder: Path, program: str, ranks: int) -> Path:
    trace = folder / f"{program}-{ranks}"
    if not trace.exists():
        there = ["--machine", ORIGIN, "--ranks", str(ranks), "--placement", f"{ranks}x1"]
        launch = ["nhalf", "try", *there, "--", str(_compiled(folder, "mpich")), program]
        nhalf("trace", "--quiet", "--detail", "timeline", "--out", str(trace), "--", *launch)
    return trace


def _compiled(folder: Path, vendor: str) -> Path:
    compiler = COMPILERS[vendor]
    program = folder / f"asked-{compiler}"
    if not program.exists():
        maker = find("mpich" if compiler.endswith("_abi") else vendor)
        words = [str(maker.prefix / "bin" / compiler), "-O1", str(SOURCE), "-o", str(program)]
        subprocess.run(words, check=True, env={**os.environ, **maker.environment})
    return program


NOTE = """Five programs of large operations with computing between them
(`tools/benchmarks/asked_programs.c`) on 8 and 32 ranks: training that overlaps sums with \
computing, sharded training, rows and columns of a grid, a root in the middle, a ring of halos \
with blocks of two sizes. They were traced with MPICH on `{origin}`, predicted by `nhalf predict \
TRACE --machine M --placement P --mpi L --computing-factor 1`, and run by `nhalf try` \
there. Of {count} predictions on \
{machines} the median error is {median}, {near} % are within 5 %, and {held} intervals hold."""
WHY = """
*Largest* is the error that is farthest from 0. What differs, and why:

- **training.** Open MPI's first broadcast takes longer than later ones.
- **grid.** Columns share links with each other: as much as the messages of algorithms that take \
as long alone.
- **roots.** A rank that comes late to a broadcast is taken to make no other rank late.
- **halo.** Halos do not wait for each other.
"""


def page(rows: Sequence[Row]) -> str:
    """The section: by program and library, how far predictions are off."""
    errors = [abs(row.error) for row in rows]
    note = NOTE.format(
        origin=ORIGIN,
        count=len(rows),
        median=percent(median(errors), 1),
        near=round(100 * sum(error <= NEAR for error in errors) / len(rows)),
        held=sum(row.held for row in rows),
        machines=", ".join(f"`{name}`" for name in dict.fromkeys(row.machine for row in rows)),
    )
    lines = []
    for program in PROGRAMS:
        for vendor in LIBRARIES:
            own = [row for row in rows if (row.program, row.library) == (program, vendor)]
            worst = max(own, key=lambda row: abs(row.error))
            lines.append([
                program, vendor, percent(median(abs(row.error) for row in own), 1),
                percent(worst.error, 1, signed=True), f"{worst.machine} {worst.placement}",
                format_time(worst.tried_s), f"{sum(row.held for row in own)} of {len(own)}",
            ])  # fmt: skip
    head = ["program", "library", "median error", "largest", "on", "takes there", "held"]
    return (
        table("Programs of large operations predicted, beside their trial", note, head, lines) + WHY
    )
