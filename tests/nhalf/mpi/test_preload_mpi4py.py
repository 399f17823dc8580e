# SPDX-License-Identifier: Apache-2.0
"""The tests of mpi4py, which try every operation with every type, pass with routed collectives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.preload import own_library
from nhalf.sites.start import start
from tests.patience import patience_s

VERSION = "4.1.1"
TIMEOUT_S = 300.0
TESTS = "test_cco|test_op|test_intracomm|test_msgzero|test_attr"
ROUTED = (
    *("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"),
    *("gather", "scatter", "reduce-scatter", "scan"),
)
TABLE = "".join(f"{one} 2 inf 0 inf shared-memory\n" for one in ROUTED)
FOUND = [one for one in newest(libraries()) if one.vendor in ("mpich", "openmpi") and one.compiler]
FEW = [pytest.param(one, 2, id=f"{one.name}-2") for one in FOUND[:1]]
MANY = [
    pytest.param(one, ranks, id=f"{one.name}-{ranks}", marks=pytest.mark.full)
    for one in FOUND
    for ranks in (1, 2, 3)
    if (one, ranks) != (FOUND[0], 2)
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mpi4py from its wheel in venv/, and its tests from its source."""
    folder = tmp_path_factory.mktemp("mpi4py")
    python = str(folder / "venv/bin/python")
    pip = [python, "-m", "pip"]
    named = f"mpi4py=={VERSION}"
    for command in (
        [sys.executable, "-m", "venv", str(folder / "venv")],
        [*pip, "install", "--quiet", "--only-binary", ":all:", named],
        [*pip, "download", "--quiet", "--no-deps", "--no-binary", "mpi4py", "-d", folder, named],
        ["tar", "-C", folder, "-xf", folder / f"mpi4py-{VERSION}.tar.gz"],
    ):
        outcome = run([str(word) for word in command], patience_s(TIMEOUT_S), {"MPICC": "cc"})
        if not outcome.succeeded:
            pytest.skip(f"mpi4py cannot be had here: {outcome.reason}")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("library", "ranks"), [*FEW, *MANY])
def test_the_tests_of_mpi4py_pass(environment: Path, library: Library, ranks: int) -> None:
    table = environment / "shared.table"
    table.write_text(f"# nhalf decision table 1\n{TABLE}")
    try:
        loaded = own_library(library)
    except NhalfError as error:
        pytest.skip(str(error))
    words = [f"LD_PRELOAD={loaded}", f"NHALF_COLL_TABLE={table}", "NHALF_COLL_VERBOSE=1"]
    main = environment / f"mpi4py-{VERSION}/test/main.py"
    tests = [str(environment / "venv/bin/python"), str(main), "-q", "-f", "-i", TESTS]
    chosen = ["env", f"MPI4PY_MPIABI={library.vendor}", *words]
    how = start(library, [*chosen, *tests, "-e", "spawn|dynproc"], ranks, bind=False)
    outcome = run(how.command, patience_s(TIMEOUT_S), how.environment)
    assert outcome.succeeded, (outcome.stdout + outcome.stderr)[-3000:]
    assert ("allreduce shared-memory" in outcome.stdout + outcome.stderr) == (ranks > 1)
