# SPDX-License-Identifier: Apache-2.0
"""The tests of mpi4py, which try every call with every type, pass on the virtual network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import library_of
from tests.nhalf.mpi4py_suite import HANDLES, installed, suite
from tests.patience import patience_s

TIMEOUT_S = 900.0
QUICK = r"test_msgzero|test_win\b|test_status|test_p2p_obj_matched"
PARTS = (
    r"test_[a-bd-oq-z]",
    r"test_p",
    r"test_c(?!co)",
    r"test_cco_(obj|ngh)",
    r"test_cco_(buf|pr|vec|nb)",
)
"""The modules by their names, so that each run ends within a limit."""
ELSEWHERE = "spawn|dynproc"
"""Modules of calls that are refused: other processes are started outside the network."""
NOT_ITS_OWN = {
    # Its probe for any source and the receive after it may take different messages where one is
    # from the rank itself; over TCP, too.
    "mpich": ["testDistgraphcomm"],
    "intel": [],
    # Waits for other ranks in the launcher, which is refused.
    "openmpi": ["CreateFromGroup"],
}
CASES = [
    pytest.param("mpich", 2, QUICK, id="mpich-2-quick"),
    *(
        pytest.param(vendor, ranks, part, id=f"{vendor}-{ranks}-{part}", marks=pytest.mark.full)
        for vendor in HANDLES
        for ranks in (2, 3)
        for part in PARTS
    ),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mpi4py and its tests."""
    return installed(tmp_path_factory.mktemp("mpi4py"))


def outcome_of(environment: Path, vendor: str, ranks: int, *words: str) -> tuple[int, str]:
    """The exit code and the output of tests on the virtual network."""
    program = ["env", f"MPI4PY_MPIABI={HANDLES[vendor]}", f"PYTHONPATH={environment / 'packages'}"]
    program += [sys.executable, str(suite(environment)), *words]
    command = [sys.executable, "-m", "nhalf", "try", "--machine", "altix-bx2"]
    command += [
        "--placement",
        f"{ranks}x1",
        "--ranks",
        str(ranks),
        "--mpi",
        library_of(vendor).name,
        "--",
        *program,
    ]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=patience_s(TIMEOUT_S), check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("vendor", "ranks", "modules"), CASES)
def test_the_tests_of_mpi4py_pass(environment: Path, vendor: str, ranks: int, modules: str) -> None:
    without = [word for name in NOT_ITS_OWN[vendor] for word in ("-x", name)]
    code, output = outcome_of(environment, vendor, ranks, "-i", modules, "-e", ELSEWHERE, *without)
    assert code == 0, output[-3000:]
    numbers = [int(number) for number in re.findall(r"Ran (\d+) tests", output)]
    assert len(numbers) == ranks
    assert min(numbers) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vendor", "module", "call"),
    [
        ("mpich", "test_spawn", "MPI_Comm_spawn"),
        pytest.param("mpich", "test_dynproc", "MPI_Comm_(accept|connect)", marks=pytest.mark.full),
        pytest.param("openmpi", "test_spawn", "MPI_Comm_spawn", marks=pytest.mark.full),
    ],
)
def test_calls_that_start_processes_are_refused(
    environment: Path, vendor: str, module: str, call: str
) -> None:
    code, output = outcome_of(environment, vendor, 2, "--no-skip-mpi", "-i", module)
    assert code == 3
    assert re.search(rf"nhalf: error: {call}\w* is not supported", output), output[-2000:]
