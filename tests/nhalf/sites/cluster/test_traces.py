"""Programs that Slurm starts are traced as those that mpiexec starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.measure.traced.tables import open_trace
from tests.nhalf.measure.traced.programs import CASES, built, messages
from tests.nhalf.measure.traced.test_trace import ring

from .conftest import NHALF, Cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CASES, reason="no MPI library here"),
]
# On one node: between nodes of a lab MPICH's wheel hangs now and then, with and without a trace.
SRUN = ("srun", "--mpi=pmi2", "--nodes=1", "--ntasks=2")
JOB = "#!/bin/sh\n#SBATCH --nodes=1 --ntasks=2 --wait --output={output}\nexec {command}\n"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "start",
    ["srun", "script", *(pytest.param(s, marks=pytest.mark.full) for s in ("sh", "salloc"))],
)
def test_srun_is_traced(cluster: Cluster, tmp_path: Path, start: str) -> None:
    """All tracers are loaded: nobody knows before which library the program has."""
    case = next((case for case in CASES if case[0].vendor == "mpich"), None)
    if case is None:
        pytest.skip("no mpich here: nhalf mpi install mpich")
    program = built(*case, "ring.cpp", tmp_path)
    out, output = tmp_path / "trace", tmp_path / "output"
    command = [*NHALF, "trace", "--out", str(out), "--", *SRUN, str(program)]
    if start == "sh":
        command = [*command[:-5], "sh", "-c", " ".join(command[-5:])]
    elif start == "salloc":
        command = ["salloc", "--quiet", "--nodes=1", "--ntasks=2", *command]
    elif start == "script":
        job = tmp_path / "job"
        job.write_text(JOB.format(output=output, command=" ".join(command)))
        command = ["sbatch", str(job)]
    outcome = cluster.run(*command)
    assert outcome.returncode == 0, outcome.stderr + (output.read_text() if output.exists() else "")
    trace = open_trace(out)
    assert messages(trace) == ring(2)
    assert trace.trace.complete
