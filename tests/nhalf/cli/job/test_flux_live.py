"""`nhalf run --submit` and `--launcher flux` under a real Flux: an instance on this machine."""

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
from tests.patience import patience_s

InInstance = Callable[..., ProgramOutcome]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("flux") is None, reason="Flux is not installed: no flux"),
]


@pytest.fixture
def in_instance(tmp_path: Path) -> InInstance:
    """Calls nhalf in an instance of Flux with one broker, in the folder of this test."""
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    nhalf = [sys.executable, "-m", "nhalf"]
    start = ["flux", "start", "--test-size=1", "env", f"--chdir={tmp_path}"]
    return lambda *words: run([*start, *nhalf, *words], patience_s(120), path)


def test_a_job_ends_as_a_run_here_does(
    in_instance: InInstance, run_words: list[str], tmp_path: Path
) -> None:
    ended = in_instance(*run_words, "--submit", "--out", "r", "--json")
    assert ended.succeeded, ended.stderr
    points = json.loads(ended.stdout)["points"]
    assert [point["bytes"] for point in points] == [0, 8]
    assert json.loads((tmp_path / "r/job.json").read_text())["system"] == "flux"
    assert "latency" in (tmp_path / "r/job.out").read_text()


@pytest.mark.full
def test_a_job_that_stops_before_its_limit_says_so(
    in_instance: InInstance, run_words: list[str], tmp_path: Path
) -> None:
    # nhalf stops 15 s before the limit of its job, so at once.
    ended = in_instance(*run_words, "--submit", "--out", "r", "--job", "--time-limit=14s")
    assert ended.exit_code == 1, ended.stderr
    assert "is nearly up" in ended.stderr and "go on with: nhalf run --resume" in ended.stderr


def test_flux_run_starts_the_ranks_of_a_library(in_instance: InInstance, tmp_path: Path) -> None:
    if not any(library.vendor == "mpich" for library in libraries()):
        pytest.skip("no MPICH here: nhalf mpi install mpich")
    words = ["--mpi", "mpich", "--pattern", "barrier", "--ranks", "2", "--launches", "1"]
    words += ["--budget", "5s", "--launcher", "flux", "--out", "r", "--json"]
    ended = in_instance("run", *words)
    assert ended.succeeded, ended.stderr
    (point,) = json.loads(ended.stdout)["points"]
    assert point["ranks"] == 2 and point["samples"] > 0
