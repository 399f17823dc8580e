"""However a program is started, it runs as without a trace, and every message of it is counted.

Every start is tried with every kind of handles in the second tier, and each once in the first,
here or where ranks are left out; libraries of all vendors are known meanwhile.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.measure.traced.tables import open_trace
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    CASES,
    SOURCES,
    Message,
    built,
    collective,
    environment,
    launch,
    messages,
    nhalf,
)
from tests.nhalf.measure.traced.test_every_call import fortran, fortran_compilers
from tests.nhalf.measure.traced.test_trace import ring
from tests.nhalf.mpi.test_preload_mpi4py import HANDLES
from tests.nhalf.mpi.test_preload_mpi4py import environment as mpi4py
from tests.patience import patience_s

__all__ = ["mpi4py"]
RANKS = 2
TIMEOUT_S = 120.0
Start = Callable[[list[str], Path], list[str]]
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")


def other_launcher(name: str) -> Start:
    """Another launcher of the same folder."""

    def words(command: list[str], folder: Path) -> list[str]:
        found = Path(command[0]).with_name(name)
        if not os.access(found, os.X_OK):
            pytest.skip(f"{command[0]} has no {name} beside it")
        return [str(found), *command[1:]]

    return words


def script(command: list[str], folder: Path) -> list[str]:
    """As a batch system runs it."""
    path = folder / "job"
    path.write_text(f"#!/bin/sh\n#SBATCH --ntasks={RANKS}\nset -e\n{shlex.join(command)}\n")
    path.chmod(0o755)
    return [str(path)]


def rule(command: list[str], folder: Path) -> list[str]:
    """A rule of make."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    (folder / "Makefile").write_text(f"run:\n\t@{shlex.join(command)}\n")
    return ["make", "-s", "-C", str(folder), "run"]


def from_python(command: list[str], folder: Path) -> list[str]:
    """A script that starts ranks, as workflow systems do."""
    text = f"import subprocess, sys; sys.exit(subprocess.run({command!r}).returncode)"
    return [sys.executable, "-c", text]


STARTS: dict[str, Start] = {
    "mpiexec": lambda command, folder: command,
    "mpirun": other_launcher("mpirun"),
    "prterun": other_launcher("prterun"),
    "sh": lambda command, folder: ["sh", "-c", shlex.join(command)],
    "env": lambda command, folder: ["env", "NAME=value", *command],
    "timeout": lambda command, folder: ["timeout", "100", *command],
    "script": script,
    "make": rule,
    "python": from_python,
}
FIRST = ("prterun", "env", "timeout", "make", "python")
"""Those of the first tier that test_untraced_ranks.py leaves out."""
FORMS = {"pie": ("-fPIE", "-pie"), "no-pie": ("-fno-PIE", "-no-pie")}


def starts() -> list[object]:
    """Each start with one case, the first tier's by turns, and all with all."""
    found = []
    for row, start in enumerate(STARTS):
        for column, case in enumerate(CASES):
            for form in FORMS:
                is_diagonal = start in FIRST and column == row % len(CASES) and form == "pie"
                found.append(
                    pytest.param(
                        *case, start, form, marks=[] if is_diagonal else [pytest.mark.full]
                    )
                )
    return found


@pytest.mark.parametrize(
    ("library", "compiler", "start", "form"), starts(), ids=lambda one: getattr(one, "name", one)
)
def test_every_start_is_traced(
    monkeypatch: pytest.MonkeyPatch,
    library: Library,
    compiler: Path,
    start: str,
    form: str,
    tmp_path: Path,
    programs: Path,
) -> None:
    # Some launchers are scripts that look for another one.
    monkeypatch.setenv("PATH", f"{library.mpiexec.parent}:{os.environ['PATH']}")
    program = built(library, compiler, "ring.cpp", programs, *FORMS[form])
    words = STARTS[start]([*launch(library, RANKS), str(program)], tmp_path)
    plain = run(words, patience_s(TIMEOUT_S), environment(library))
    assert plain.exit_code == 0, plain.stderr
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    trace = open_trace(tmp_path / "trace")
    assert messages(trace) == ring(RANKS)
    assert trace.trace.complete


@pytest.mark.parametrize(
    "start",
    [pytest.param(s, marks=[] if s == "sh" else [pytest.mark.full]) for s in STARTS],
)
def test_every_start_of_fortran_is_traced(start: str, tmp_path: Path, programs: Path) -> None:
    compilers = fortran_compilers()
    if not compilers:
        pytest.skip("no MPI library here has a compiler for Fortran")
    library, wrapper = compilers[0]
    program = built(library, Path(wrapper), "ring.f90", programs, "-cpp", "-DF08")
    words = STARTS[start]([*launch(library, RANKS), str(program)], tmp_path)
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    assert messages(open_trace(tmp_path / "trace")) == fortran(RANKS)


@pytest.mark.full
@pytest.mark.parametrize(
    "library",
    {library.name: library for library, _ in CASES}.values(),
    ids=lambda library: library.name,
)
def test_python_started_by_a_shell_is_traced(
    library: Library, tmp_path: Path, mpi4py: Path
) -> None:
    """Nothing but the module that Python loads says which library it is.

    That module tests whether calls of MPI 4 exist before it uses them. Libraries for other handles
    export them; Open MPI 5 does not.
    """
    variables = [
        f"MPI4PY_MPIABI={HANDLES[library.vendor]}",
        f"PYTHONPATH={mpi4py / 'packages'}",
    ]
    command = ["env", *variables, sys.executable, str(SOURCES / "ring.py")]
    words = ["sh", "-c", shlex.join([*launch(library, RANKS), *command])]
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    found = messages(open_trace(tmp_path / "trace"))
    expected: Counter[Message] = Counter()
    for rank in range(RANKS):
        expected[rank, "MPI_Send", "sent", 0, (rank + 1) % RANKS, 40] = 1
        expected[collective(rank, "Bcast", 80, RANKS - 1, 1)] = 1
    assert expected <= found


@pytest.mark.parametrize("vendor", ["mpich", pytest.param("openmpi", marks=pytest.mark.full)])
def test_an_application_of_ours_is_traced(vendor: str, tmp_path: Path) -> None:
    library = next((one for one, _ in CASES if one.vendor == vendor), None)
    if library is None:
        pytest.skip(f"there is no {vendor}")
    command = [sys.executable, "-m", "nhalf", "app", "npb", "--kernel", "cg", "--class", "S"]
    words = [*command, "--ranks", str(RANKS), "--mpi", library.name, "--launches", "1"]
    words += ["--out", str(tmp_path / "run")]
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    found = messages(open_trace(tmp_path / "trace"))
    assert sum(count for (_, call, *_), count in found.items() if call == "MPI_Irecv") > 0
