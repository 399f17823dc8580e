"""Launches that follow each other at once within an allocation of Slurm."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nhalf.mpi.discover import libraries, newest
from tests.patience import patience_s

from .conftest import Cluster

FOUND = [found for found in newest(libraries()) if found.vendor == "openmpi"]
LAUNCHES = """\
import sys
from pathlib import Path
from nhalf.measure.launches.timed import run_timed
from nhalf.mpi.launch_settings import parse_launch
folder, limit_s, *words = sys.argv[1:]
for number in range(4):
    print(run_timed(parse_launch(words), Path(folder, str(number)), float(limit_s)).problem)
"""


@pytest.mark.skipif(not FOUND, reason="no Open MPI here: nhalf mpi install openmpi")
def test_none_waits_for_the_step_of_the_one_before(cluster: Cluster, tmp_path: Path) -> None:
    """Open MPI starts its daemons by srun, which ends its step after mpiexec has ended."""
    launcher = [str(FOUND[0].mpiexec), "-n", "2", "--map-by", "node", "true"]
    words = [sys.executable, "-c", LAUNCHES, str(tmp_path), str(patience_s(20)), *launcher]
    allowed = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    outcome = cluster.run("salloc", "--quiet", "--nodes=2", *allowed, *words)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "\n" * 4
