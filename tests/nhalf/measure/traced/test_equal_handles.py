"""Of several tracers for one kind of handles, that of the newest MPI serves, and calls count once.

They meet where a command does not tell its library and several with such handles are installed.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.measure.traced.collect import collect
from nhalf.measure.traced.start import TRACE, start, tracing_libraries
from nhalf.measure.traced.tables import open_trace
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries
from nhalf.mpi.preload import abi_library
from nhalf.mpi.probe import compiler_variables
from tests.nhalf.measure.traced.programs import (
    CASES,
    SOURCES,
    TIMEOUT_S,
    built,
    is_standard,
    launch,
    messages,
    nhalf,
)
from tests.nhalf.measure.traced.test_trace import ring
from tests.patience import patience_s

RANKS = 2
COUNTED = {"MPI_Isend": 1, "MPI_Irecv": 1, "MPI_Waitall": 1, "MPI_Allreduce": 3}
"""How often each rank of newer.cpp makes a call."""
NEWER_CALL, SINCE = "MPI_Request_get_status_all", [4, 2]
"""A call that MPICH has since that version."""
STARTS: dict[str, Callable[[list[str]], list[str]]] = {
    "sh": lambda words: ["sh", "-c", shlex.join(words)],
    "python": lambda words: [
        *(sys.executable, "-c"),
        f"import subprocess, sys; sys.exit(subprocess.run({words!r}).returncode)",
    ],
}


@pytest.mark.skipif(
    not CASES or not is_standard(CASES[0]), reason="no library of the standard ABI here"
)
def test_a_tracer_that_is_preloaded_twice_counts_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, programs: Path
) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "ring.cpp", programs)
    tracer = abi_library(library, preloaded=TRACE)
    both = f"{shutil.copy(tracer, tmp_path)}:{tracer}"
    words = [*launch(library, RANKS), "-genv", "LD_PRELOAD", both, str(program)]
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    assert "not traced" not in outcome.stderr
    assert "incomplete" not in outcome.stdout
    assert len([*(tmp_path / "trace/ranks").glob("*.json")]) == RANKS
    assert messages(open_trace(tmp_path / "trace")) == ring(RANKS)


def age(library: Library) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", library.version)]


def pair() -> tuple[Library, Library]:
    """The oldest and the newest MPICH here with which tracers can be compiled."""
    installed = [each for each in libraries() if each.vendor == "mpich" and each.compiler]
    by_age = sorted(installed, key=age)
    if not installed or age(by_age[0]) >= SINCE or age(by_age[-1]) < SINCE:
        pytest.skip(f"there are no MPICH older and newer than {SINCE}, with compilers")
    return by_age[0], by_age[-1]


def newer_program(library: Library, folder: Path) -> Path:
    """newer.cpp with the header of the library."""
    variables = {**library.environment, **compiler_variables(library)}
    program = folder / f"program-{library.name}"
    words = [str(library.compiler), "-std=c++20", str(SOURCES / "newer.cpp"), "-o", str(program)]
    outcome = run(words, patience_s(TIMEOUT_S), variables)
    assert outcome.succeeded, outcome.stderr
    return program


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1], ids=["older-first", "newer-first"])
@pytest.mark.parametrize("began_with", STARTS)
def test_that_of_the_newer_library_serves(
    began_with: str,
    order: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    both = pair()
    monkeypatch.setattr("nhalf.measure.traced.start.newest", lambda _: both[::order])
    for library in both:
        for name, value in library.environment.items():
            monkeypatch.setenv(name, value)
        program = newer_program(library, tmp_path)
        folder = tmp_path / f"trace-{library.name}"
        words = STARTS[began_with]([*launch(library, RANKS), str(program)])
        tracing = tracing_libraries(words)
        assert len({path.parent.parent.name for path in tracing.libraries}) >= len(both)
        assert start(words, folder, "counts") == 0
        assert "not traced" not in capfd.readouterr().err
        calls: Counter[tuple[int, str]] = Counter()
        for row in collect(folder, 0).table("calls").collect().iter_rows(named=True):
            calls[row["rank"], row["call"]] += row["count"]
        expected = COUNTED | ({NEWER_CALL: 1} if age(library) >= SINCE else {})
        assert calls == {
            (rank, call): count for rank in range(RANKS) for call, count in expected.items()
        }
