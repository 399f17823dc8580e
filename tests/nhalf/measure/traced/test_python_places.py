"""Calls of a program in Python are at its lines, not within the binding that makes them."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from nhalf.facts.program.calls import call_sites, most_expensive
from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    SOURCES,
    built,
    is_standard,
    traced,
)
from tests.nhalf.mpi4py_suite import HANDLES, packages

RANKS = 2
MARK = re.compile(r"# at (MPI_\w+) (\d+) (\S+)$")
STANDARD = [case for case in CASES if is_standard(case)][:1]
with_mpi4py = pytest.mark.parametrize(
    "library",
    [
        pytest.param(one, marks=[pytest.mark.slow if one == FOUND[0] else pytest.mark.full])
        for one in FOUND
        if one.vendor in HANDLES
    ],
    ids=lambda one: one.name,
)
Called = Counter[tuple[str, str, str]]
"""How often on all ranks, by place, call and function."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mpi4py."""
    return packages(tmp_path_factory.mktemp("mpi4py"))


def written(program: Path) -> Called:
    """What a program calls, as its lines say."""
    found: Called = Counter()
    for number, line in enumerate(program.read_text().splitlines(), 1):
        if mark := MARK.search(line):
            found[f"{program.name}:{number}", mark[1], mark[3]] = int(mark[2]) * RANKS
    return found


def counted(read: Program) -> Called:
    found: Called = Counter()
    for row in call_sites(read).iter_rows(named=True):
        found[row["place"], row["call"], row["function"]] += row["count"]
    return found


def program_of(name: str, folder: Path) -> Path:
    """A program of tests/native/trace, by a name that is not ASCII."""
    return Path(shutil.copy(SOURCES / name, folder / "größen.py"))


@with_mpi4py
def test_each_call_has_its_line_of_python(
    library: Library, tmp_path: Path, environment: Path
) -> None:
    program = program_of("places.py", tmp_path)
    variables = [f"MPI4PY_MPIABI={HANDLES[library.vendor]}", f"PYTHONPATH={environment}"]
    folder = tmp_path / "trace"
    command = ["env", *variables, sys.executable, str(program)]
    outcome, trace = traced(library, folder, RANKS, command)
    assert outcome.exit_code == 0 and trace.trace.complete, outcome.stderr
    read = Program.open(folder)
    expected = written(program)
    for line in (1, 3):
        expected[f"<string>:{line}", "MPI_Barrier", "<module>"] = 300 * RANKS
    assert counted(read) == expected
    # The verdict's last line names one of them.
    dearest = most_expensive(read)["place"][0]
    assert dearest and f" at {dearest} " in outcome.stdout
    assert not read.sites["python_file"].str.len_chars().sum()


@pytest.mark.full
@pytest.mark.skipif(shutil.which("addr2line") is None, reason="there is no addr2line")
@pytest.mark.parametrize(
    ("library", "compiler"), STANDARD, ids=lambda one: getattr(one, "name", "")
)
def test_libraries_that_python_calls_have_both_lines(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    halo = built(library, compiler, "halo.cpp", programs, "-g", "-shared", "-fPIC")
    program = program_of("calls.py", tmp_path)
    folder = tmp_path / "trace"
    outcome, trace = traced(library, folder, RANKS, [sys.executable, str(program), str(halo)])
    assert outcome.exit_code == 0 and trace.trace.complete, outcome.stderr
    expected = written(program)
    source = (SOURCES / "halo.cpp").read_text().splitlines()
    compiled = {
        re.sub(r"\(.*", "", line).strip(): number
        for number, line in enumerate(source, 1)
        if line.endswith("// from Python")
    }
    for number, line in enumerate(program.read_text().splitlines(), 1):
        if mark := re.search(r"# through (MPI_\w+) (\d)", line):
            place = f"halo.cpp:{compiled[mark[1]]} ({program.name}:{number})"
            expected[place, mark[1], ""] = int(mark[2]) * RANKS
    aside = next(number for number, line in enumerate(source, 1) if line.endswith("// aside"))
    expected[f"halo.cpp:{aside}", "MPI_Barrier", ""] = RANKS
    found = counted(Program.open(folder))
    without = {
        (place, call, "" if place.startswith("halo") else function): count
        for (place, call, function), count in found.items()
    }
    assert without == expected
