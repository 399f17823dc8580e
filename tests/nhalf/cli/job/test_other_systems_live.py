"""`nhalf run --submit` under a real PBS, and under a real Flux: an instance on this machine."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi.discover import libraries
from nhalf.sites.batch.pbs import Pbs
from tests.patience import patience_s

Nhalf = Callable[..., ProgramOutcome]
pytestmark = pytest.mark.slow

FLUX_START = ("flux", "start", "--test-size=1")
STARTS = {"pbs": (), "flux": FLUX_START}
SHORTEST = {"pbs": "-l walltime=0:00:14", "flux": "--time-limit=14s"}


def _skip_without(name: str) -> None:
    if name == "flux" and shutil.which("flux") is None:
        pytest.skip("Flux is not installed: no flux")
    if name == "pbs" and not (Pbs().is_here() and run(["qstat", "-B"], 30).succeeded):
        pytest.skip("no PBS here: qstat -B reaches no server")


@pytest.fixture(params=list(STARTS))
def system(request: pytest.FixtureRequest) -> str:
    """Each batch system that is here."""
    name: str = request.param
    _skip_without(name)
    return name


@pytest.fixture
def nhalf(tmp_path: Path) -> Nhalf:
    """Calls nhalf after the words that start an instance, in the folder of this test."""
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    words_of_nhalf = ["env", f"--chdir={tmp_path}", sys.executable, "-m", "nhalf"]
    return lambda start, *words: run([*start, *words_of_nhalf, *words], patience_s(120), path)


def test_a_job_ends_as_a_run_here_does(
    system: str, nhalf: Nhalf, run_words: list[str], tmp_path: Path
) -> None:
    words = [*run_words, "--submit", "--batch-system", system, "--out", "r 1", "--json"]
    ended = nhalf(STARTS[system], *words)
    assert ended.succeeded, ended.stderr
    points = json.loads(ended.stdout)["points"]
    assert [point["bytes"] for point in points] == [0, 8]
    assert json.loads((tmp_path / "r 1/job.json").read_text())["system"] == system
    assert "latency" in (tmp_path / "r 1/job.out").read_text()


@pytest.mark.full
def test_a_job_that_stops_before_its_limit_says_so(
    system: str, nhalf: Nhalf, run_words: list[str]
) -> None:
    # nhalf stops 15 s before the limit of its job, so at once.
    words = [*run_words, "--submit", "--batch-system", system, "--job", SHORTEST[system]]
    ended = nhalf(STARTS[system], *words)
    assert ended.exit_code == 1, ended.stderr
    assert "is nearly up" in ended.stderr and "go on with: nhalf run --resume" in ended.stderr


def test_flux_run_starts_the_ranks_of_a_library(nhalf: Nhalf) -> None:
    _skip_without("flux")
    if not any(library.vendor == "mpich" for library in libraries()):
        pytest.skip("no MPICH here: nhalf mpi install mpich")
    words = ["--mpi", "mpich", "--pattern", "barrier", "--ranks", "2", "--launches", "1"]
    words += ["--budget", "5s", "--launcher", "flux", "--out", "r", "--json"]
    ended = nhalf(FLUX_START, "run", *words)
    assert ended.succeeded, ended.stderr
    (point,) = json.loads(ended.stdout)["points"]
    assert point["ranks"] == 2 and point["samples"] > 0
