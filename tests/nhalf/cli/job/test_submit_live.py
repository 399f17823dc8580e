"""`nhalf run --submit` under a real Slurm, in a cluster of `nhalf lab`; the superuser is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError
from nhalf.measure.plan.budget import VISITS_MAX
from nhalf.mpi.discover import libraries
from tests.named_labs import unused_lab_name
from tests.patience import duration, patience_s

NAME = unused_lab_name()
Call = Callable[..., Any]
LAUNCHES = 40
LONG = ["run", "--mpi", "mpich", "--placement", "2x1", "--bytes", "0,8,64,512,4K", "--submit"]
LONG += ["--launches", str(LAUNCHES), "--budget", "300s"]


def ready() -> str:
    """Why there can be no lab here, '' if there can."""
    if os.geteuid() != 0:
        return "a lab needs the superuser"
    if not any(library.vendor == "mpich" for library in libraries()):
        return "no MPICH here: nhalf mpi install mpich"
    try:
        native_files.executable("probe-mpi-abi")
    except NhalfError:
        return "the probes are not built"
    return ""


pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(ready()), reason=ready() or "ready")]


@pytest.fixture(scope="module")
def lab() -> Iterator[list[str]]:
    """A cluster of three hosts: the words that run a command of nhalf on its head."""
    nhalf = [sys.executable, "-m", "nhalf"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    up = [*nhalf, "lab", "up", "--nodes", "3", "--cores", "2", "--no-install", "--name", NAME]
    done = subprocess.run(
        up, env=environment, capture_output=True, text=True, timeout=patience_s(120), check=False
    )
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    yield ["lab", "exec", "--name", NAME, "--"]
    down = [*nhalf, "lab", "down", "--name", NAME]
    subprocess.run(down, env=environment, check=True, capture_output=True, timeout=patience_s(120))


@pytest.fixture
def there(call: Call, lab: list[str]) -> Call:
    """Calls a command on the head of the lab."""
    return lambda *words: call(*lab, *words)


@pytest.fixture
def nhalf(there: Call) -> Call:
    """Calls nhalf on the head of the lab."""
    return lambda *words: there(sys.executable, "-m", "nhalf", *words)


def points(run: Path) -> list[tuple[Any, ...]]:
    """The points in a journal: launch and size."""
    file = run / "journal.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    events = [json.loads(line) for line in lines]
    return [(e["launch"], e["bytes"]) for e in events if e["event"] == "point"]


def wait_for_points(run: Path, number: int) -> None:
    deadline_s = time.monotonic() + patience_s(60)
    while not (run / "journal.jsonl").exists() or len(points(run)) < number:
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


def test_a_run_is_submitted_and_collected(nhalf: Call, tmp_path: Path) -> None:
    out = tmp_path / "it's 100%"
    words = ["run", "--mpi", "mpich", "--placement", "2x1", "--bytes", "8", "--launches", "2"]
    ended = nhalf(*words, "--budget", duration(5), "--submit", "--json", "--out", out)
    assert (ended.code, ended.err) == (0, "")
    answer = json.loads(ended.out)
    assert answer["run"] == str(out)
    (point,) = answer["points"]
    assert point["placement"] == "2x1"
    assert point["launches"] >= 2, "noise asks for more"
    assert "latency" in (out / "job.out").read_text()
    launch = json.loads((out / "journal.jsonl").read_text().splitlines()[1])
    assert [rank["host"] for rank in launch["placement"]] == ["n1", "n2"]


def test_slurm_refuses_in_its_own_words(nhalf: Call, tmp_path: Path) -> None:
    refused = nhalf(*LONG, "--out", tmp_path / "r", "--quiet", "--job", "--partition=nonsuch")
    refused.is_error(2, "invalid partition specified: nonsuch")
    many = nhalf(*LONG, "--out", tmp_path / "r", "--quiet", "--job", "--nodes=9")
    many.is_error(2, "sbatch: ", "configuration is not available")
    assert not (tmp_path / "r").exists()


def follow_to_its_time(nhalf: Call, out: Path) -> Any:
    """Resume in a job of a minute, the shortest that Slurm knows, and follow it."""
    return nhalf("run", "--resume", out, "--submit", "--job", "--time=1", "--json")


@pytest.mark.full
def test_cancelled_it_goes_on(there: Call, nhalf: Call, tmp_path: Path) -> None:
    """No point too often, none lost."""
    out = tmp_path / "r"
    assert nhalf(*LONG, "--out", out, "--no-wait", "--quiet").code == 0
    wait_for_points(out, 3)
    job = f"--name=nhalf-{out.name}"
    assert there("scancel", job).code == 0
    deadline_s = time.monotonic() + patience_s(60)
    while there("squeue", "--noheader", job).out:
        assert time.monotonic() < deadline_s
    goes_on(there, nhalf, out, points(out))


def goes_on(there: Call, nhalf: Call, out: Path, first: list[tuple[Any, ...]]) -> None:
    """A job that resumes the run keeps its points, measures others, and is cancelled."""
    assert nhalf("run", "--resume", out, "--submit", "--job", "--time=9", "--no-wait").code == 0
    wait_for_points(out, len(first) + 1)
    later = points(out)
    assert later[: len(first)] == first
    assert Counter(later).most_common(1)[0][1] <= VISITS_MAX
    assert there("scancel", f"--name=nhalf-{out.name}").code == 0


@pytest.mark.full
def test_out_of_time_it_goes_on(there: Call, nhalf: Call, tmp_path: Path) -> None:
    """No point too often, none lost: through scancel, a leaving follower and the time limit."""
    out = tmp_path / "r"
    assert nhalf(*LONG, "--out", out, "--no-wait", "--quiet").code == 0
    wait_for_points(out, 3)
    assert there("scancel", f"--name=nhalf-{out.name}").code == 0
    ended = follow_to_its_time(nhalf, out)
    if ended.code == 130:  # the cancelled job was still there to be followed
        assert "ended as CANCELLED" in ended.err
        assert "points are kept: asked to end by SIGTERM; go on with:" in ended.err
        ended = follow_to_its_time(nhalf, out)
    first = points(out)
    assert ended.code == 1, ended.err
    assert f"{len(first)} points are kept: the time of Slurm job" in ended.err
    assert f"go on with: nhalf run --resume {out} --submit" in ended.err
    assert len(first) > 3
    assert Counter(first).most_common(1)[0][1] <= VISITS_MAX
    assert not (out / "measurements.parquet").exists()
    goes_on(there, nhalf, out, first)
