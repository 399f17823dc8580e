"""The facts of a run, for exporters, and a program to run on what they write."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from tests.patience import patience_s

PING_PONG = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 2; i < argc; ++i) {
    const int size = atoi(argv[i]), rounds = atoi(argv[1]);
    char* data = calloc(size + 1, 1);
    double start = 0;
    for (int round = -1; round < rounds && rank < 2; ++round) {
      if (round == 0) start = MPI_Wtime();
      if (rank == 0) MPI_Send(data, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data, size, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(data, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%d %.12g\\n", size, (MPI_Wtime() - start) / (2 * rounds));
    free(data);
  }
  MPI_Finalize();
}
"""


TOGETHER = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request requests[256];
  const int size = atoi(argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), last;
  for (int i = 2; i + 1 < argc && argv[i][0] != '-'; i += 2) {
    const int from = atoi(argv[i]), to = atoi(argv[i + 1]);
    char* data = malloc(size);
    if (rank == to) MPI_Irecv(data, size, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[count++]);
    if (rank == from) MPI_Isend(data, size, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  double mine = MPI_Wtime() - start;
  MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.12g\\n", last);
  MPI_Finalize();
}
"""


@pytest.fixture
def facts_of() -> Callable[[pl.LazyFrame], Facts]:
    """The facts of one run with these measurements, of which nothing more is known."""
    return lambda measurements: Facts(measurements, environments={"run": {}})


@pytest.fixture(scope="session")
def ping_pong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled with SMPI's compiler; skips where SimGrid is missing."""
    return compiled(PING_PONG, tmp_path_factory)


@pytest.fixture(scope="session")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prints how long messages of a size take that start at once; pairs of ranks follow it."""
    return compiled(TOGETHER, tmp_path_factory)


def compiled(source: str, folders: pytest.TempPathFactory) -> Path:
    if shutil.which("smpicc") is None or shutil.which("smpirun") is None:
        pytest.skip("SimGrid's smpicc and smpirun are missing: apt-get install libsimgrid-dev")
    folder = folders.mktemp("smpi")
    (folder / "program.c").write_text(source)
    done = subprocess.run(
        ["smpicc", "-O1", "program.c", "-o", "program"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=patience_s(120),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "program"
