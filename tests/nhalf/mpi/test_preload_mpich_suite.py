"""MPICH's own tests pass with routed collectives wherever they pass without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.preload import own_library
from nhalf.mpi.probe import compiler_variables
from nhalf.sites.start import start
from tests.nhalf.mpi import mpich_suite
from tests.nhalf.mpi.routed_programs import FOUND, table_of, table_without_rules
from tests.patience import patience_s

TIMEOUT_S = 60.0
SOME = [one for one in FOUND if one.vendor in ("mpich", "openmpi") and one.compiler]
LEAST_CASES = 80
PASSES, FAILS = "passes", "fails"
ONE_OF_EACH = (
    *("coll/allred 4 -count=10", "coll/bcastzerotype 4", "coll/longuser 4"),
    *("comm/ctxdup 4", "comm/comm_create_group_threads 4", "coll/rerr 2"),
)
"""A vector, a datatype, its own operation, communicators, threads, and errors."""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return mpich_suite.sources(tmp_path_factory.mktemp("suite"))
    except mpich_suite.Absent as reason:
        pytest.skip(f"the sources of MPICH's tests cannot be had here: {reason}")


def judge(
    suite: Path, library: Library, listed: Sequence[mpich_suite.Case], to: Path
) -> Callable[[mpich_suite.Case, list[str]], str]:
    """Tells what comes of a test where `words` are set; it skips where none can be compiled."""
    assert library.compiler is not None
    wrapper = library.compiler.with_name("mpicc")
    variables = {**library.environment, **compiler_variables(library)}
    try:
        made = mpich_suite.compiled(suite, listed, wrapper, variables, to)
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

    def judged(case: mpich_suite.Case, words: list[str]) -> str:
        if passes(case, words):
            return PASSES
        return FAILS if passes(case, []) else "fails without, too"

    return judged


def words_for(library: Library, table: Path) -> list[str]:
    return [f"LD_PRELOAD={own_library(library)}", f"NHALF_COLL_TABLE={table}"]


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(not SOME, reason="there is no library with a compiler")
def test_one_case_of_each_kind_passes_with_routed_collectives(
    suite: Path, folder: Path, tmp_path: Path
) -> None:
    library = SOME[0]
    listed = [one for one in mpich_suite.cases(suite) if str(one) in ONE_OF_EACH]
    judged = judge(suite, library, listed, tmp_path / "made")
    words = words_for(library, table_of(folder, -1))
    assert {str(one): judged(one, words) for one in listed} == dict.fromkeys(ONE_OF_EACH, PASSES)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("library", SOME, ids=lambda one: one.name)
@pytest.mark.parametrize("way", [-1, 0, None], ids=["shared", "messages", "native"])
def test_what_passes_without_passes_with_routed_collectives(
    suite: Path, library: Library, folder: Path, tmp_path: Path, way: int | None
) -> None:
    listed = mpich_suite.cases(suite)
    judged = judge(suite, library, listed, tmp_path / "made")
    words = words_for(
        library, table_without_rules(folder) if way is None else table_of(folder, way)
    )
    with ThreadPoolExecutor(2) as pool:
        verdicts = dict(
            zip(map(str, listed), pool.map(lambda one: judged(one, words), listed), strict=True)
        )
    assert [name for name, verdict in verdicts.items() if verdict == FAILS] == []
    assert sum(verdict == PASSES for verdict in verdicts.values()) >= LEAST_CASES
