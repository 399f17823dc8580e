"""Ranks get what they get without a trace, in the same order, whichever of them is not traced.

A tool below nhalf's libraries writes down every call that reaches the MPI library: none may be
there that the program did not make. Every start is tried with every kind of handles in the second
tier, and every way once in the first.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from nhalf.base.processes import run
from nhalf.measure.traced.tables import open_trace
from nhalf.mpi import Library
from tests.nhalf.measure.traced.one_rank_without import (
    NO_SESSIONS,
    RANKS,
    SOURCES,
    command,
    seen,
)
from tests.nhalf.measure.traced.programs import CASES, built, environment, launch, nhalf
from tests.nhalf.measure.traced.test_starts import STARTS
from tests.patience import patience_s

TIMEOUT_S = 120.0
WAYS = {
    "traced": ":",
    "not-loaded": "unset LD_PRELOAD",
    "no-folder": "unset NHALF_TRACE_FOLDER",
    "not-writable": "export NHALF_TRACE_FOLDER=/not/there",
}
"""What happens to a rank before it starts."""
DETAILS = ("counts", "timeline")
FIRST = ("mpiexec", "mpirun", "sh", "script")
"""A start for each way in the first tier; the others are in test_starts.py."""
NAMESPACES = ("env", "MPIR_CVAR_CH4_CMA_ENABLE=0", "unshare", "--pid", "--fork", "--mount-proc")
"""MPICH would copy from processes by numbers that are others' there."""
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")


class Traced(NamedTuple):
    """A launch to trace, and the rank that is not traced, by its way."""

    library: Library
    compiler: Path
    start: str
    what: str
    untraced: int
    way: str
    detail: str

    @property
    def words(self) -> list[str]:
        """Its name, in parts."""
        own = (self.start, self.what, str(self.untraced), self.way, self.detail)
        return [self.library.name, self.compiler.name, *own]


def cases() -> list[object]:
    """Each way with one start, the first tier's by turns, and all with all."""
    found: list[object] = []
    ways = list(WAYS)
    for row, start in enumerate(STARTS):
        for column, case in enumerate(CASES):
            for untraced in range(RANKS):
                for turn, way in enumerate(ways):
                    for what in ("world", "sessions"):
                        is_diagonal = (
                            start in FIRST
                            and column == row % len(CASES)
                            and untraced == row % RANKS
                            and turn == (row + 1) % len(ways)
                            and what == ("sessions" if row % 3 == 0 else "world")
                        )
                        mark = [] if is_diagonal else [pytest.mark.full]
                        detail = DETAILS[(row + untraced + turn) % 2]
                        traced = Traced(*case, start, what, untraced, way, detail)
                        found.append(pytest.param(traced, marks=mark, id="-".join(traced.words)))
    return found


@pytest.mark.parametrize("traced", cases())
def test_data_order_and_exit_code_are_the_programs_own(
    monkeypatch: pytest.MonkeyPatch, traced: Traced, tmp_path: Path, programs: Path
) -> None:
    library, compiler, start, what, untraced, way, detail = traced
    assert library.mpiexec is not None
    monkeypatch.setenv("PATH", f"{library.mpiexec.parent}:{os.environ['PATH']}")
    runs = []
    for name in ("plain", "trace"):
        folder = tmp_path / name
        words = command((library, compiler), programs, folder, what, untraced, WAYS[way])
        words = STARTS[start](words, folder)
        if name == "plain":
            outcome = run(words, patience_s(TIMEOUT_S), environment(library))
        else:
            options = ("--detail", detail, "--out", str(folder / "trace"))
            outcome = nhalf(library, *options, "--", *words)
        if outcome.exit_code == NO_SESSIONS:
            pytest.skip(f"{library.name} has no sessions")
        runs.append(seen(folder, outcome))
    assert runs[0].exit_code == 0
    assert len(runs[0].calls) == len(runs[0].data) == RANKS
    assert runs[1] == runs[0], outcome.stderr
    trace = open_trace(tmp_path / "trace/trace").trace
    lacking = [] if way == "traced" else [untraced]
    assert [one.rank for one in trace.ranks] == [r for r in range(RANKS) if r not in lacking]
    assert trace.notes == [f"nothing is known of rank {rank}" for rank in lacking]
    assert outcome.stderr.count("not traced") == (way == "not-writable")


@pytest.mark.parametrize(
    ("library", "compiler"),
    [pytest.param(*c, marks=[] if c == CASES[0] else [pytest.mark.full]) for c in CASES],
    ids=lambda one: getattr(one, "name", one),
)
def test_ranks_that_are_all_process_1_are_told_apart(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    """As in containers with namespaces of processes."""
    if shutil.which("unshare") is None or not run([*NAMESPACES, "true"], TIMEOUT_S).succeeded:
        pytest.skip("there may be no namespaces of processes")
    program = built(library, compiler, f"{SOURCES}/what_comes.cpp", programs)
    words = [*launch(library, RANKS), *NAMESPACES, str(program), str(tmp_path / "data"), "world"]
    plain = run(words, patience_s(TIMEOUT_S), environment(library))
    if not plain.succeeded:
        pytest.skip(f"{library.name} does not run in namespaces")
    data = seen(tmp_path, plain)
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    assert seen(tmp_path, outcome) == data
    trace = open_trace(tmp_path / "trace").trace
    assert [one.rank for one in trace.ranks] == list(range(RANKS))
    assert trace.complete
