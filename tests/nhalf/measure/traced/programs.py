"""Programs of MPI that are compiled and traced, on every library of this machine."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import ProgramOutcome, run
from nhalf.measure.traced.start import tracing_libraries
from nhalf.measure.traced.tables import NO_PARTNER, TraceFolder, open_trace
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.vendors import vendor_of
from tests import server
from tests.compiled import compiled
from tests.patience import patience_s

SOURCES = Path(__file__).parents[3] / "native/trace"
SOURCE = Path(__file__).parents[4] / "src"
TIMEOUT_S = 120.0
FOUND = newest(libraries())
Message = tuple[int, str, str, int, int, int]
"""Rank, call, kind, communicator, partner, size."""


def compilers(library: Library) -> list[Path]:
    """The wrappers whose programs a library runs: its own, or those of one with the same handles.

    That of the standard ABI is one of them.
    """
    maker = library
    if library.compiler is None:
        same = vendor_of(library).handles_of
        maker = next((one for one in FOUND if one.vendor == same), library)
    own = [maker.compiler] if maker.compiler else []
    standard = maker.prefix / "bin/mpicxx_abi"
    return [*own, *([standard] if standard.is_file() else [])]


def maker_of(compiler: Path, library: Library) -> Library:
    """The library that a wrapper belongs to: the one whose programs it makes, if no prefix says."""
    return next((one for one in FOUND if compiler.is_relative_to(one.prefix)), library)


def is_standard(case: tuple[Library, Path]) -> bool:
    """Whether programs are of the standard ABI, for which nothing has to be compiled here."""
    return case[1].name.endswith("_abi")


CASES = sorted(
    ((library, compiler) for library in FOUND for compiler in compilers(library)),
    key=lambda case: (not is_standard(case), case[0].compiler is None),
)
every_program = pytest.mark.parametrize(
    ("library", "compiler"),
    [
        pytest.param(*one, marks=[] if is_standard(one) and one == CASES[0] else [pytest.mark.full])
        for one in CASES
    ],
    ids=lambda one: getattr(one, "name", ""),
)


def built(library: Library, compiler: Path, name: str, folder: Path, *flags: str) -> Path:
    """A program of tests/native/trace, compiled once."""
    program = folder / "".join([f"{library.name}-{compiler.name}-{Path(name).stem}", *flags])
    language = [] if name.endswith(".f90") else ["-std=c++20"]
    words = [str(compiler), *language, *flags, "-O1", str(SOURCES / name), "-lpthread"]
    return compiled(words, SOURCES / name, program, maker_of(compiler, library))


def launch(library: Library, ranks: int) -> list[str]:
    """What starts ranks on this machine, whoever we are and however few cores there are."""
    words = [str(library.mpiexec), "-n", str(ranks)]
    if library.launcher == "openmpi":
        words += ["--oversubscribe"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
    return words


def environment(library: Library) -> dict[str, str]:
    """What the command line is called with."""
    # Some builds of Open MPI fail with windows of UCX where there is no network for it.
    return {**library.environment, "PYTHONPATH": str(SOURCE), "OMPI_MCA_osc": "^ucx"}


def nhalf(library: Library, *words: str, text: str = "") -> ProgramOutcome:
    """The command line as it is called; with `text` on its standard input in its own Python."""
    if text:
        command = [sys.executable, "-m", "nhalf", "trace", *words]
        return run(command, patience_s(TIMEOUT_S), environment(library), text)
    variables = environment(library)
    # The server's Python has this tree already.
    del variables["PYTHONPATH"]
    return server.nhalf("trace", *words, environment=variables, session=True, timeout_s=TIMEOUT_S)


def traced(
    library: Library,
    folder: Path,
    ranks: int,
    command: list[str],
    *options: str,
    text: str = "",
) -> tuple[ProgramOutcome, TraceFolder]:
    """A command that was traced; skips where nothing traces on this library."""
    words = [*launch(library, ranks), *command]
    try:
        tracing_libraries(words)
    except NhalfError as error:
        pytest.skip(str(error))
    outcome = nhalf(library, "--out", str(folder), *options, "--", *words, text=text)
    assert (folder / "trace.json").exists(), outcome.stderr
    return outcome, open_trace(folder)


def messages(trace: TraceFolder) -> Counter[Message]:
    """Everything but waits, as often as it was counted."""
    found: Counter[Message] = Counter()
    for row in trace.table("calls").collect().iter_rows(named=True):
        if row["kind"] == "waiting":
            continue
        key = ("rank", "call", "kind", "communicator", "partner", "size_bytes")
        found[tuple(row[name] for name in key)] += row["count"]
        assert row["bytes"] == row["count"] * row["size_bytes"]
    return found


def collective(rank: int, call: str, size: int, root: int = NO_PARTNER, on: int = 0) -> Message:
    return (rank, f"MPI_{call}", "collective", on, root, size)
