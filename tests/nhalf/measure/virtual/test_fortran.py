"""Programs in Fortran on the virtual network: their calls are known as those of C are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nhalf.measure.traced.test_every_call import fortran_compilers
from tests.nhalf.measure.virtual.programs import SOURCES, TIMEOUT_S
from tests.patience import patience_s


def tried_looks(way: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Looks.f90 on a library that has a compiler for Fortran."""
    found = fortran_compilers()
    if not found:
        pytest.skip("no MPI library here has a compiler for Fortran")
    library, compiler = found[0]
    program = folder / way
    source = str(SOURCES / "looks.f90")
    built = [compiler, "-cpp", f"-D{way}", "-J", str(folder), "-o", str(program), source]
    subprocess.run(built, check=True, timeout=patience_s(TIMEOUT_S))
    command = [sys.executable, "-m", "nhalf", "try", "--machine", "altix-bx2"]
    command += ["--mpi", library.name, "--", str(program), *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=patience_s(TIMEOUT_S), check=False
    )


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("way", ["MODULE", pytest.param("F08", marks=pytest.mark.full)])
def test_looks_of_fortran_take_a_moment(way: str, tmp_path: Path) -> None:
    ended = tried_looks(way, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.splitlines()) == 2
    assert all(re.fullmatch(r"909[01] looks", line) for line in ended.stdout.splitlines())


@pytest.mark.full
@pytest.mark.slow
def test_a_deadlock_of_fortran_is_named(tmp_path: Path) -> None:
    ended = tried_looks("F08", tmp_path, "deadlock")
    assert ended.returncode == 1
    assert "rank 0 waits in MPI_Recv for rank 1, tag 5; rank 1 waits in MPI_Recv" in ended.stderr
