"""Programs of MPI that are compiled, and started with routed collectives."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from subprocess import Popen

import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.machines.algorithms import algorithms
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.preload import Preload, preload
from nhalf.sites.start import start
from tests.compiled import compiled
from tests.patience import patience_s

SOURCES = Path(__file__).parents[2] / "native/interposer"
TIMEOUT_S = 120.0
FOUND = newest(libraries())
ROUTED = (
    *("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"),
    *("gather", "scatter", "reduce-scatter", "scan"),
)
COPIED = tuple(operation for operation in ROUTED if operation not in ("barrier", "scan"))
WAYS = {
    -1: ("shared-memory", ROUTED),
    -2: ("single-copy", COPIED),
    -3: (
        "shared-memory-streaming",
        ("bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter"),
    ),
    -4: ("shared-memory-hierarchical", ("barrier", "bcast", "allreduce")),
}
"""The ways on one node, and the operations that can go them; others go through shared memory."""


def compiler_for(library: Library) -> list[str]:
    """What compiles programs that the library runs: its own wrapper, or that of the ABI."""
    if library.compiler is not None:
        return [str(library.compiler)]
    for other in FOUND:
        wrapper = other.prefix / "bin/mpicxx_abi"
        if library.abi and wrapper.is_file():
            return [str(wrapper)]
    pytest.skip(f"nothing compiles programs for {library.name}: there is no mpicxx")


def built(library: Library, name: str, folder: Path, *flags: str) -> Path:
    program = folder / "-".join([library.name, name, *(flag.strip("-") for flag in flags)])
    compiler = compiler_for(library)
    maker = next(one for one in FOUND if compiler[0].startswith(str(one.prefix)))
    source = SOURCES / f"{name}.cpp"
    words = [*compiler, "-std=c++20", "-O1", *flags, str(source), "-lpthread"]
    return compiled(words, source, program, maker)


def table_of(folder: Path, number: int) -> Path:
    """A table that takes from every operation the algorithm of this number.

    Negative numbers are those of WAYS. Messages are cut into short parts, with a shorter one last,
    by those that do so.
    """
    lines = ["# nhalf decision table 2"]
    for operation in ROUTED:
        names = sorted({algorithm.name for algorithm in algorithms()[operation]} - {"native"})
        name = names[number % len(names)]
        part = " 100" if name.endswith("-pipelined") and number >= 0 else ""
        if number < 0:
            way, operations = WAYS[number]
            name = way if operation in operations else "shared-memory"
        lines.append(f"{operation} 2 inf 0 inf {name}{part}")
    path = folder / f"{number}.table"
    path.write_text("\n".join(lines) + "\n")
    return path


def table_without_rules(folder: Path) -> Path:
    """A table by which every operation is the library's own."""
    path = folder / "native.table"
    path.write_text("# nhalf decision table 1\n")
    return path


@cache
def processes_read_each_other() -> bool:
    """Whether the system lets a process read the memory of another with the same parent, and
    filters no calls."""
    if not re.search(r"^Seccomp:\t0$", Path("/proc/self/status").read_text("ascii"), re.MULTILINE):
        return False
    with Popen(["sleep", "60"]) as sleeps:
        reads = f"open('/proc/{sleeps.pid}/mem', 'rb')"
        outcome = run([sys.executable, "-c", reads], patience_s(TIMEOUT_S))
        sleeps.terminate()
    return outcome.succeeded


def routed(
    library: Library, program: Path, table: Path | None, keep: Path | None = None
) -> Preload:
    try:
        return preload(library, program, table, FOUND, keep)
    except NhalfError as error:
        pytest.skip(str(error))


def started(
    library: Library, ranks: int, loaded: Preload, command: list[str]
) -> tuple[int | None, str]:
    words = [*loaded.words, "NHALF_COLL_VERBOSE=1"]
    how = start(library, ["env", *words, *command], ranks, bind=False)
    outcome = run(how.command, patience_s(TIMEOUT_S), how.environment)
    return outcome.exit_code, outcome.stdout + outcome.stderr
