"""A virtual machine is one host, whatever job it is started in."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, library_of

from .conftest import NHALF, Cluster

pytestmark = pytest.mark.slow

JOBS = {
    "step": ["srun", "--mpi=pmi2", "-N1", "-n1"],
    "pmix": ["srun", "--mpi=pmix", "-N1", "-n1"],
    "allocation": ["salloc", "--nodes=2"],
}


@pytest.mark.full
@pytest.mark.parametrize("vendor", ["mpich", "openmpi", "intel"])
@pytest.mark.parametrize("job", JOBS)
def test_a_virtual_machine_within_a_job(
    cluster: Cluster, tmp_path: Path, job: str, vendor: str
) -> None:
    program = built(vendor, "habits", tmp_path)
    command = [*NHALF, "try", "--machine", "altix-bx2", "--ranks", "4", "--json"]
    command += ["--mpi", library_of(vendor).name, "--", str(program), "barriers"]
    outcome = cluster.run(*JOBS[job], *command)
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout.splitlines()[-1])["ranks"] == 4


@pytest.mark.full
@pytest.mark.parametrize("job", JOBS)
def test_measuring_a_virtual_machine_within_a_job(
    cluster: Cluster, tmp_path: Path, job: str
) -> None:
    command = [*NHALF, "run", "--pattern", "barrier", "--machine", "altix-bx2", "--ranks", "4"]
    command += ["--mpi", library_of("mpich").name, "--out", str(tmp_path / "run"), "--json"]
    outcome = cluster.run(*JOBS[job], *command)
    assert outcome.returncode == 0, outcome.stderr
    points = json.loads(outcome.stdout[outcome.stdout.index("{") :])["points"]
    # Two rounds on 4 ranks, of 0 bytes each.
    assert [point["median_s"] for point in points] == [pytest.approx(2.5e-6)]


@pytest.mark.full
@pytest.mark.parametrize("vendor", ["mpich", "openmpi", "intel"])
def test_a_batch_job_without_terminal(cluster: Cluster, tmp_path: Path, vendor: str) -> None:
    program = built(vendor, "habits", tmp_path)
    command = [*NHALF, "try", "--machine", "altix-bx2", "--ranks", "4"]
    command += ["--mpi", library_of(vendor).name, "--", str(program), "clock"]
    out = tmp_path / "out"
    job = ["sbatch", "--wait", f"--output={out}", f"--chdir={tmp_path}", "--export=ALL"]
    outcome = cluster.run(*job, "--wrap", shlex.join(command))
    assert outcome.returncode == 0, outcome.stderr
    lines = out.read_text().splitlines()
    assert len(lines) == 5
    assert next(line for line in lines if "reads" not in line).startswith("nhalf: 4 ranks of ")
