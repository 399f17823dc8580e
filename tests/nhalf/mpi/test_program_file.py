"""Programs with sanitizers take preloaded libraries: traced, tried, and with own collectives."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi import Library
from nhalf.mpi.preload import preload, sanitizer_variables
from tests.nhalf.measure.traced.programs import CASES, environment, launch, maker_of
from tests.patience import patience_s

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, *data = malloc(4 * sizeof(int));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 4; ++i) data[i] = rank;
  MPI_Allreduce(MPI_IN_PLACE, data, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\\n", data[count > 1 ? 4 : 3]);
  free(data);
  MPI_Finalize();
  return 0;
}
"""
TIMEOUT_S = 120.0
FOUND = "heap-buffer-overflow"
every_case = pytest.mark.parametrize(
    ("library", "compiler"),
    [
        pytest.param(*case, marks=[] if case == CASES[0] else [pytest.mark.slow])
        for case in CASES
        if case[0].vendor in ("mpich", "openmpi")
    ],
    ids=lambda one: getattr(one, "name", ""),
)


def _built(library: Library, compiler: Path, folder: Path, sanitizer: str) -> Path:
    """The program with a sanitizer; skips where the compiler has none."""
    source, program = folder / "sum.cpp", folder / f"sum-{sanitizer}"
    source.write_text(PROGRAM.replace("malloc(", "(int*)malloc("))
    command = [str(compiler), f"-fsanitize={sanitizer}", "-g", str(source), "-o", str(program)]
    outcome = run(command, patience_s(TIMEOUT_S), maker_of(compiler, library).environment)
    if not outcome.succeeded:
        pytest.skip(f"there is no sanitizer here: {outcome.stderr}")
    return program


def _nhalf(library: Library, *words: str) -> ProgramOutcome:
    command = [sys.executable, "-m", "nhalf", *words]
    # What MPI libraries leave at their end is theirs.
    own = {**environment(library), "ASAN_OPTIONS": "detect_leaks=0"}
    return run(command, patience_s(TIMEOUT_S), own)


@pytest.mark.sampled(1)
@every_case
@pytest.mark.parametrize(
    "sanitizer", ["address", *(pytest.param(name, marks=pytest.mark.full) for name in ("thread",))]
)
def test_a_sanitized_program_is_traced(
    library: Library, compiler: Path, sanitizer: str, tmp_path: Path
) -> None:
    program = _built(library, compiler, tmp_path, sanitizer)
    words = [*launch(library, 2), "env", "ASAN_OPTIONS=detect_leaks=0", str(program)]
    outcome = _nhalf(library, "trace", "--out", str(tmp_path / "t"), "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    assert "sum 1" in outcome.stdout + outcome.stderr
    assert "MPI_Allreduce" in outcome.stdout + outcome.stderr


@pytest.mark.sampled(1)
@every_case
def test_a_sanitized_program_is_tried(library: Library, compiler: Path, tmp_path: Path) -> None:
    """Its errors are found, too."""
    program = _built(library, compiler, tmp_path, "address")
    words = ["try", "--machine", "altix-bx2", "--mpi", library.name, "--", str(program)]
    right, wrong = _nhalf(library, *words), _nhalf(library, *words, "wrong")
    assert (right.exit_code, right.stdout) == (0, "sum 1\n"), right.stderr
    assert wrong.exit_code != 0
    assert FOUND in wrong.stderr


@pytest.mark.sampled(2)
@every_case
def test_a_sanitized_program_has_own_collectives(
    library: Library, compiler: Path, tmp_path: Path
) -> None:
    program = _built(library, compiler, tmp_path, "address")
    chosen = preload(library, program, None, [library])
    assert chosen.variables["ASAN_OPTIONS"].startswith("verify_asan_link_order=0")
    words = [*launch(library, 2), "env", *chosen.words, str(program)]
    outcome = run(words, patience_s(TIMEOUT_S), {**os.environ, **environment(library)})
    assert "sum 1" in outcome.stdout, outcome.stderr


def test_what_the_environment_says_counts() -> None:
    assert sanitizer_variables({}) == {"ASAN_OPTIONS": "verify_asan_link_order=0"}
    own = sanitizer_variables({"ASAN_OPTIONS": "verify_asan_link_order=1:log_path=x"})
    assert own["ASAN_OPTIONS"] == "verify_asan_link_order=0:verify_asan_link_order=1:log_path=x"
