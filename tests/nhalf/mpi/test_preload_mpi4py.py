"""The tests of mpi4py, which try every operation with every type, pass with routed collectives."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.preload import own_library
from nhalf.sites.start import start
from tests.nhalf.mpi.routed_programs import table_of, table_without_rules
from tests.nhalf.mpi4py_suite import HANDLES, TIMEOUT_S, installed, suite
from tests.patience import patience_s

ROUTED = r"test_cco_(buf|obj)|test_op\b|test_comm\b|test_msgzero|test_attr"
EVERYTHING = "test_cco|test_op|test_comm|test_msgzero|test_attr"
"""Of the collective operations those of blocking calls with equal counts are routed; what else
there is must not notice."""
FOUND = [one for one in newest(libraries()) if one.vendor in ("mpich", "openmpi", "intel")]
WAYS = {"shared": -1, "messages": 0}
"""By the number that `table_of` takes; "native" is a table without a rule."""
QUICK = (*FOUND[:1], 2, "shared", ROUTED)
CASES = [
    pytest.param(
        library,
        ranks,
        way,
        tests,
        id=f"{library.name}-{ranks}-{way}-{'routed' if tests == ROUTED else 'everything'}",
        marks=[] if (library, ranks, way, tests) == QUICK else [pytest.mark.full],
    )
    for library in FOUND
    for ranks in (2, 3, 5, 8)
    for way in ("native", *WAYS)
    for tests in (ROUTED, EVERYTHING)
    if tests == (EVERYTHING if ranks < 5 else ROUTED) or (library, ranks, way, tests) == QUICK
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mpi4py and its tests."""
    return installed(tmp_path_factory.mktemp("mpi4py"))


def went(way: str, output: str) -> bool:
    """Whether sums over all ranks took the way."""
    taken = set(re.findall(r"nhalf: allreduce (\S+) \d+", output)) - {"native"}
    return {"native": not taken, "shared": "shared-memory" in taken}.get(way, bool(taken))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(("library", "ranks", "way", "tests"), CASES)
def test_the_tests_of_mpi4py_pass(
    environment: Path, library: Library, ranks: int, way: str, tests: str
) -> None:
    try:
        loaded = own_library(library, FOUND)
    except NhalfError as error:
        pytest.skip(str(error))
    table = table_of(environment, WAYS[way]) if way in WAYS else table_without_rules(environment)
    words = [f"LD_PRELOAD={loaded}", f"NHALF_COLL_TABLE={table}", "NHALF_COLL_VERBOSE=1"]
    command = [
        sys.executable,
        str(suite(environment)),
        "-q",
        "-f",
        "-i",
        tests,
        "-e",
        "spawn|dynproc",
    ]
    words.append(f"PYTHONPATH={environment / 'packages'}")
    chosen = ["env", f"MPI4PY_MPIABI={HANDLES[library.vendor]}", *words]
    how = start(library, [*chosen, *command], ranks, bind=False)
    outcome = run(how.command, patience_s(TIMEOUT_S), how.environment)
    assert outcome.succeeded, (outcome.stdout + outcome.stderr)[-3000:]
    assert went(way, outcome.stdout + outcome.stderr)
