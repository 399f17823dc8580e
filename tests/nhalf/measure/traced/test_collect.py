"""Where nothing was traced, the file of the program tells why."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from nhalf.measure.traced.collect import INTERPRETER, USUAL, reason
from nhalf.mpi import Library
from nhalf.mpi.preload import ELF

LOAD = 1


def program(path: Path, *names: str, kinds: tuple[int, ...] = (LOAD, INTERPRETER)) -> Path:
    """A program of 64 bits as far as it is looked at: headers of some kinds, and text."""
    head = ELF + bytes([2, 1]) + bytes(26) + struct.pack("<Q", 64) + bytes(14)
    head += struct.pack("<HH", 56, len(kinds)) + bytes(6)
    headers = b"".join(struct.pack("<I", kind) + bytes(52) for kind in kinds)
    path.write_bytes(head + headers + b"".join(name.encode() + b"\0" for name in names))
    return path


def library(folder: Path, vendor: str) -> Library:
    mpiexec = folder / f"mpiexec.{vendor}"
    mpiexec.write_text("#!/bin/sh\n")
    mpiexec.chmod(0o755)
    return Library(vendor, vendor, "1.0", folder, mpiexec, "hydra", False, None, "path")


def test_a_static_program_is_named(tmp_path: Path) -> None:
    static = program(tmp_path / "static", "MPI_Init", kinds=(LOAD,))
    assert f"{static} is statically linked" in reason(["mpiexec", "-n", "2", str(static)], [])
    assert "statically" in reason([str(static)], [])


def test_a_program_of_another_library_is_named(tmp_path: Path) -> None:
    known = [library(tmp_path, vendor) for vendor in ("mpich", "openmpi")]
    soname = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}
    for launcher in known:
        for vendor, needed in soname.items():
            made = program(tmp_path / "program", needed, "MPI_Init")
            said = reason([str(launcher.mpiexec), "-n", "2", str(made)], known)
            assert ("is linked with" in said) == (vendor != launcher.vendor)
            assert (launcher.name in said) == (vendor != launcher.vendor)
    standard = program(tmp_path / "program", "libmpi_abi.so.0", "MPI_Init")
    assert reason([str(known[1].mpiexec), str(standard)], known) == USUAL


def test_a_library_among_the_arguments_is_no_program(tmp_path: Path) -> None:
    """As of a program that opens the library it is given."""
    opening = program(tmp_path / "opening", "dlopen", "dlsym", "MPI_Init")
    for name in ("libmpi.so", "libmpi.so.12", "module.so"):
        opened = program(tmp_path / name, "MPI_Init", kinds=(LOAD,))
        said = reason(["mpiexec", "-n", "2", str(opening), str(opened)], [])
        assert said.startswith(f"{opening} is linked with no MPI library")
        assert "dlsym" in said
        assert "static" not in said


@pytest.mark.parametrize("name", ["libpython3.11.so.1.0", "libjulia.so.1", "libperl.so.5.36"])
def test_an_interpreter_in_a_library_may_open_others(name: str, tmp_path: Path) -> None:
    words = reason(["mpiexec", str(program(tmp_path / "interpreter", name)), "script"], [])
    assert "dlsym" in words


@pytest.mark.parametrize("name", ["libmpi.so.12", "libmpi_abi.so.0", "libmpifort.so.12"])
def test_who_is_linked_with_mpi_may_open_others(name: str, tmp_path: Path) -> None:
    linked = program(tmp_path / "linked", name, "dlopen", "dlsym")
    assert reason(["mpiexec", str(linked)], []) == USUAL


def test_a_shell_is_no_reason(tmp_path: Path) -> None:
    shell = program(tmp_path / "bash", "dlsym")
    assert reason(["mpiexec", str(shell)], []) == USUAL


@pytest.mark.parametrize("content", [b"", ELF, ELF + bytes(40), b"#!/bin/sh\n"])
def test_what_is_no_program_is_no_reason(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert reason(["mpiexec", str(file), "-x", str(tmp_path)], []) == USUAL
