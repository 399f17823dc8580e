"""The tests of mpi4py, which try every call with every type, pass on the virtual network.

What fails fails over TCP, too, or waits for threads that sleep in real time.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.mpi.discover import libraries
from nhalf.mpi.vendors import vendor_of
from nhalf.sites.start import start
from tests.nhalf.measure.virtual.programs import library_of
from tests.nhalf.mpi4py_suite import HANDLES, installed, packages, suite
from tests.patience import patience_s
from tests.server import nhalf

TIMEOUT_S = 1200.0
OUTSIDE_TIMEOUT_S = 60.0
PROVIDER = "tcp"
QUICK = r"test_msgzero|test_status|test_p2p_obj_matched"
ELSEWHERE = "spawn|dynproc"
"""Modules of calls that are refused: other processes are started outside the network."""
REFUSED = {"openmpi": "CreateFromGroup"}
"""Tests of other calls that are refused: a group's ranks wait for each other in the launcher."""
ENDLESS = {"mpich": ("test_comm_topo", "testDistgraphcomm")}
"""Tests, by their modules, after whose failure the other rank waits for ever: the library's probe
for any source and the receive after it may take different messages."""
OWN_FAILURES = {
    # It says of Fortran's types that they are there, which mpi4py finds to be untrue.
    "mpich": ("test_mpiabi", "testGetFortranInfo"),
    "intel": ("test_mpiabi", "testGetFortranInfo"),
    # Communicators that one rank has revoked do not fail everywhere.
    "openmpi": ("test_ulfm", "testRevoke"),
}
"""Tests that fail with the library, by their modules."""
REAL_THREADS = {"test_apply_async", "test_apply_async_timeout"}
"""Tests of the pool of threads: its workers call no MPI, so they sleep in real time, while the
thread that waits for them reads the virtual clock."""
OBJECTS = """
from mpi4py import MPI
world = MPI.COMM_WORLD
other = 1 - world.rank
assert world.sendrecv({"of": world.rank}, other, source=other) == {"of": other}
assert world.allreduce([world.rank]) == [0, 1]
print(world.rank)
"""
CASES = [
    pytest.param(vendor, ranks, id=f"{vendor}-{ranks}", marks=pytest.mark.full)
    for vendor in HANDLES
    for ranks in (2, 3)
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mpi4py and its tests."""
    return installed(tmp_path_factory.mktemp("mpi4py"))


def program(environment: Path, vendor: str, *words: str) -> list[str]:
    """The command of tests as a rank runs it."""
    return python_program(environment / "packages", vendor, suite(environment), *words)


def python_program(packages: Path, vendor: str, *words: str | Path) -> list[str]:
    """The command of a program of Python that finds mpi4py in a folder."""
    variables = [f"MPI4PY_MPIABI={HANDLES[vendor]}", f"PYTHONPATH={packages}"]
    return ["env", *variables, sys.executable, *map(str, words)]


def outcome_of(environment: Path, vendor: str, ranks: int, *words: str) -> tuple[int, str]:
    """The exit code and the output of tests on the virtual network."""
    command = [sys.executable, "-m", "nhalf", "try", "--machine", "altix-bx2"]
    command += ["--placement", f"{ranks}x1", "--ranks", str(ranks)]
    command += ["--mpi", library_of(vendor).name, "--", *program(environment, vendor, *words)]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=patience_s(TIMEOUT_S), check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def output_outside(environment: Path, vendor: str, *words: str) -> str:
    """What tests print on two ranks without nhalf, over TCP."""
    library = library_of(vendor)
    over = vendor_of(library).over_provider(library, PROVIDER, libraries())
    variables = [f"{name}={value}" for name, value in {**over, "FI_PROVIDER": PROVIDER}.items()]
    begun = start(library, ["env", *variables, *program(environment, vendor, *words)], 2)
    outcome = run(begun.command, OUTSIDE_TIMEOUT_S, begun.environment)
    return outcome.stdout + outcome.stderr


def failed(output: str) -> set[str]:
    """The names of tests that failed."""
    return set(re.findall(r"^(?:FAIL|ERROR): (\w+) \(", output, re.M))


def check_counts(output: str, ranks: int, tests_min: int) -> None:
    """Every rank has run its tests."""
    numbers = [int(number) for number in re.findall(r"Ran (\d+) tests", output)]
    assert len(numbers) == ranks
    assert min(numbers) >= tests_min


@pytest.mark.slow
def test_objects_pass_the_virtual_network(tmp_path: Path) -> None:
    program = tmp_path / "objects.py"
    program.write_text(OBJECTS)
    command = python_program(packages(tmp_path), "mpich", program)
    outcome = nhalf(
        *("try", "--machine", "altix-bx2", "--placement", "2x1", "--ranks", "2"),
        *("--mpi", library_of("mpich").name, "--", *command),
    )
    assert outcome.succeeded, outcome.stderr
    assert sorted(outcome.stdout.split()) == ["0", "1"]


@pytest.mark.full
def test_some_tests_of_mpi4py_pass(environment: Path) -> None:
    code, output = outcome_of(environment, "mpich", 2, "-i", QUICK)
    assert code == 0, output[-3000:]
    check_counts(output, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("vendor", "ranks"), CASES)
def test_the_whole_suite_fails_where_the_library_does(
    environment: Path, vendor: str, ranks: int
) -> None:
    names = [REFUSED.get(vendor, ""), *ENDLESS.get(vendor, ())[1:]]
    without = [word for name in names if name for word in ("-x", name)]
    _, output = outcome_of(environment, vendor, ranks, "-e", ELSEWHERE, *without)
    check_counts(output, ranks, 2000)
    assert failed(output) == REAL_THREADS | {OWN_FAILURES[vendor][1]}, output[-3000:]


@pytest.mark.full
@pytest.mark.parametrize("vendor", HANDLES)
def test_the_librarys_own_failures_are_those_without_nhalf(environment: Path, vendor: str) -> None:
    module, name = OWN_FAILURES[vendor]
    assert failed(output_outside(environment, vendor, "-i", module)) == {name}


@pytest.mark.full
@pytest.mark.parametrize("vendor", ENDLESS)
def test_the_test_that_does_not_end_fails_without_nhalf(environment: Path, vendor: str) -> None:
    module, name = ENDLESS[vendor]
    output = output_outside(environment, vendor, "-v", "-i", module)
    assert re.search(rf"{name} \(\S+World\S*\) \.\.\. FAIL", output), output[-2000:]


@pytest.mark.full
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
