# SPDX-License-Identifier: Apache-2.0
"""MPICH's own tests pass with routed collectives wherever they pass without."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.preload import own_library
from nhalf.mpi.probe import compiler_variables
from nhalf.sites.start import start
from tests.nhalf.mpi import mpich_suite
from tests.nhalf.mpi.routed_programs import FOUND, table_of
from tests.patience import patience_s

TIMEOUT_S = 60.0
SOME = [one for one in FOUND if one.vendor in ("mpich", "openmpi") and one.compiler]
LEAST_CASES = 80
Runs = Callable[[mpich_suite.Case, list[str]], bool]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return mpich_suite.sources(tmp_path_factory.mktemp("suite"))
    except mpich_suite.Absent as reason:
        pytest.skip(f"the sources of MPICH's tests cannot be had here: {reason}")


@pytest.fixture(scope="module", params=SOME, ids=lambda one: one.name)
def library(request: pytest.FixtureRequest) -> Library:
    found: Library = request.param
    return found


@pytest.fixture(scope="module")
def programs(suite: Path, library: Library, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Tells whether a test passes where `words` are set; one that does not compile never does."""
    assert library.compiler is not None
    wrapper = library.compiler.with_name("mpicc")
    variables = {**library.environment, **compiler_variables(library)}
    folder = tmp_path_factory.mktemp("made") / library.name
    try:
        made = mpich_suite.compiled(suite, wrapper, variables, folder)
    except mpich_suite.Absent as reason:
        pytest.skip(f"MPICH's tests cannot be compiled here: {reason}")

    def passes(case: mpich_suite.Case, words: list[str]) -> bool:
        if case.source not in made:
            return False
        given = [f"{name}={value}" for name, value in case.variables.items()]
        command = ["env", *given, *words, str(made[case.source]), *case.arguments]
        how = start(library, command, case.ranks, bind=False)
        outcome = run(how.command, patience_s(TIMEOUT_S), how.environment)
        return outcome.succeeded and "No Errors" in outcome.stdout

    return passes


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("number", [-1, 0], ids=["shared", "messages"])
def test_what_passes_without_passes_with_routed_collectives(
    suite: Path, library: Library, programs: Runs, folder: Path, number: int
) -> None:
    loaded = own_library(library)
    words = [f"LD_PRELOAD={loaded}", f"NHALF_COLL_TABLE={table_of(folder, number)}"]
    listed = mpich_suite.cases(suite)

    def judged(case: mpich_suite.Case) -> str:
        if programs(case, words):
            return "passes"
        return "fails" if programs(case, []) else "fails without, too"

    with ThreadPoolExecutor(2) as pool:
        verdicts = dict(zip(map(str, listed), pool.map(judged, listed), strict=True))
    assert [name for name, verdict in verdicts.items() if verdict == "fails"] == []
    assert sum(verdict == "passes" for verdict in verdicts.values()) >= LEAST_CASES
