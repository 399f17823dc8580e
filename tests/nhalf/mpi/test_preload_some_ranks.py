"""Where not all ranks have preloaded collectives, none uses them, and nothing else changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.mpi import Library
from tests.nhalf.measure.traced.conftest import programs
from tests.nhalf.measure.traced.one_rank_without import (
    NO_SESSIONS,
    RANKS,
    SOURCES,
    command,
    seen,
)
from tests.nhalf.measure.traced.programs import CASES, built, environment, launch
from tests.nhalf.measure.traced.test_life import collectives
from tests.nhalf.measure.traced.test_starts import STARTS
from tests.nhalf.measure.traced.test_untraced_ranks import NAMESPACES
from tests.patience import patience_s

__all__ = ["programs"]
TIMEOUT_S = 120.0
WITHOUT = "unset LD_PRELOAD"
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")


def cases() -> list[object]:
    """Each start with one case and one rank, the first tier's by turns, and all with all."""
    found: list[object] = []
    for row, start in enumerate(STARTS):
        for column, case in enumerate(CASES):
            for rank in range(RANKS):
                for what in ("world", "sessions"):
                    is_diagonal = (
                        column == row % len(CASES)
                        and rank == row % RANKS
                        and what == ("sessions" if row % 4 == 3 else "world")
                    )
                    mark = [] if is_diagonal else [pytest.mark.full]
                    found.append(pytest.param(*case, start, what, rank, marks=mark))
    return found


@pytest.mark.parametrize(
    ("library", "compiler", "start", "what", "rank"),
    cases(),
    ids=lambda one: getattr(one, "name", one),
)
@pytest.mark.sampled(4)
def test_one_rank_without_leaves_all_to_the_library(
    monkeypatch: pytest.MonkeyPatch,
    library: Library,
    compiler: Path,
    start: str,
    what: str,
    rank: int,
    tmp_path: Path,
    programs: Path,
) -> None:
    assert library.mpiexec is not None
    monkeypatch.setenv("PATH", f"{library.mpiexec.parent}:{os.environ['PATH']}")
    runs = []
    for name in ("plain", "preloaded"):
        variables = [f"LD_PRELOAD={collectives()}"] if name == "preloaded" else []
        case = (library, compiler)
        words = command(case, programs, tmp_path / name, what, rank, WITHOUT, variables)
        words = STARTS[start](words, tmp_path / name)
        outcome = run(words, patience_s(TIMEOUT_S), environment(library))
        if outcome.exit_code == NO_SESSIONS:
            pytest.skip(f"{library.name} has no sessions")
        runs.append(seen(tmp_path / name, outcome))
    assert runs[0].exit_code == 0
    assert len(runs[0].calls) == len(runs[0].data) == RANKS
    assert runs[1] == runs[0], outcome.stderr
    said = [line for line in outcome.stderr.splitlines() if "nhalf" in line]
    assert len(said) <= 1
    if what == "world":
        assert f"rank {rank} has not preloaded nhalf's" in outcome.stderr


@pytest.mark.parametrize(
    ("library", "compiler"),
    [pytest.param(*c, marks=[] if c == CASES[0] else [pytest.mark.full]) for c in CASES],
    ids=lambda one: getattr(one, "name", one),
)
def test_where_all_ranks_have_them_they_are_used(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    """By the table, since first calls of what learns are the library's own."""
    runs = []
    by_table = [f"LD_PRELOAD={collectives()}", "NHALF_COLL_LEARN=0"]
    for name, loaded in (("plain", []), ("all", by_table)):
        case = (library, compiler)
        words = command(case, programs, tmp_path / name, "world", 0, ":", loaded)
        outcome = run(words, patience_s(TIMEOUT_S), environment(library))
        assert "nhalf" not in outcome.stderr
        runs.append(seen(tmp_path / name, outcome))
    plain, routed = runs
    assert (routed.exit_code, routed.data) == (plain.exit_code, plain.data)
    for name, calls in plain.calls.items():
        assert routed.calls[name].count("Barrier") < calls.count("Barrier")


@pytest.mark.parametrize(
    ("library", "compiler"),
    [
        pytest.param(
            *c, marks=[] if c == CASES[0] or c[0].vendor == "openmpi" else [pytest.mark.full]
        )
        for c in CASES
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_programs_with_sessions_only_use_none(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    """There is no MPI_COMM_WORLD, and Open MPI crashes where it is asked for one."""
    runs = []
    for name, loaded in (("plain", []), ("all", [f"LD_PRELOAD={collectives()}"])):
        case = (library, compiler)
        words = command(case, programs, tmp_path / name, "sessions", 0, ":", loaded)
        outcome = run(words, patience_s(TIMEOUT_S), environment(library))
        if outcome.exit_code == NO_SESSIONS:
            pytest.skip(f"{library.name} has no sessions")
        assert "collectives are" not in outcome.stderr
        runs.append(seen(tmp_path / name, outcome))
    assert runs[0].exit_code == 0
    assert runs[1] == runs[0], outcome.stderr


def test_ranks_that_cannot_see_each_other_use_none(tmp_path: Path, programs: Path) -> None:
    """Each is the first process of a namespace."""
    if shutil.which("unshare") is None or not run([*NAMESPACES, "true"], TIMEOUT_S).succeeded:
        pytest.skip("there may be no namespaces of processes")
    library, compiler = CASES[0]
    program = built(library, compiler, f"{SOURCES}/what_comes.cpp", programs)
    rank = [str(program), str(tmp_path / "data"), "world"]
    words = [*launch(library, RANKS), *NAMESPACES]
    plain = run([*words, *rank], patience_s(TIMEOUT_S), environment(library))
    if not plain.succeeded:
        pytest.skip(f"{library.name} does not run in namespaces")
    data = seen(tmp_path, plain)
    loaded = [*words, "env", f"LD_PRELOAD={collectives()}", *rank]
    outcome = run(loaded, patience_s(TIMEOUT_S), environment(library))
    assert seen(tmp_path, outcome) == data, outcome.stderr
    assert outcome.stderr.count("nhalf: collectives are the library's own") == 1
