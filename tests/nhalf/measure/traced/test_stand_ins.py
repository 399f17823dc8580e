"""Libraries of MPI that are not here, as far as their files and what they say of themselves go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nhalf.base.native_files import native_folder
from nhalf.base.processes import ProgramOutcome, run
from tests.nhalf.measure.traced.test_life import collectives, tracers
from tests.patience import patience_s

SOURCE = Path(__file__).parents[3] / "native/preloaded/stand_in.cpp"
COMPILER = shutil.which("g++") or shutil.which("c++")
TIMEOUT_S = 60.0
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


def made(output: Path, *words: str, version: str = "") -> Path:
    """Compiled with some macros and libraries."""
    macro = [f'-DVERSION="{version}"'] if version else []
    command = [str(COMPILER), "-O1", *macro, str(SOURCE), "-o", str(output), f"-L{output.parent}"]
    outcome = run([*command, *words, f"-Wl,-rpath,{output.parent}"], patience_s(TIMEOUT_S))
    assert outcome.succeeded, outcome.stderr
    return output


def library(folder: Path, name: str, version: str) -> Path:
    """A program of a library in one file."""
    flags = ("-shared", "-fPIC", "-DPROFILED", "-DCALLED", f"-Wl,-soname,{name}")
    made(folder / name, *flags, version=version)
    return made(folder / "program", "-DPROGRAM", f"-l:{name}")


def started(program: Path, loaded: str) -> ProgramOutcome:
    return run(["env", f"LD_PRELOAD={loaded}", str(program)], patience_s(TIMEOUT_S))


@pytest.mark.parametrize("what", [tracers, collectives], ids=["traced", "routed"])
@pytest.mark.parametrize(
    ("name", "version"), [("libmpi.so.1", "NewMPI 1.0"), ("libmpi_new.so.12", "MPI of a vendor")]
)
def test_a_library_that_is_not_known_is_left_alone_with_one_line(
    what: object, name: str, version: str, tmp_path: Path
) -> None:
    assert callable(what)
    outcome = started(library(tmp_path, name, version), what())
    assert outcome.exit_code == 0, outcome.stderr
    lines = outcome.stderr.splitlines()
    assert len(lines) == 1, lines
    assert version in lines[0]
    assert "its MPI library is not known" in lines[0]


def test_the_profiling_interface_may_be_in_a_file_of_its_own(tmp_path: Path) -> None:
    shared = ("-shared", "-fPIC")
    profiled, called = "libpmpi_abi.so.0", "libmpi_abi.so.0"
    made(tmp_path / profiled, *shared, "-DPROFILED", f"-Wl,-soname,{profiled}", version="NewMPI 1")
    made(tmp_path / called, *shared, "-DCALLED", f"-l:{profiled}", f"-Wl,-soname,{called}")
    program = made(tmp_path / "program", "-DPROGRAM", f"-l:{called}", f"-l:{profiled}")
    standard = str(native_folder() / "lib/libnhalf_trace.so")
    if not Path(standard).is_file():
        pytest.skip("there is no library of the standard ABI")
    # Whatever the library is called: its handles are those of the standard.
    outcome = started(program, standard)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    others = [path for path in tracers().split(":") if path != standard]
    if others:
        outcome = started(program, ":".join(others))
        assert outcome.exit_code == 0, outcome.stderr
        assert outcome.stderr.count("it is built for the MPI standard ABI") == 1
