# SPDX-License-Identifier: Apache-2.0
"""Nodes and ranks that die while a run measures: named, nothing lost, no hang, resumable.

Two kinds are tried in `make test`; NHALF_DEATHS=20 makes `make test-full` try this many, of all.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from nhalf.store.run import Run
from tests.patience import patience_s

from .conftest import NHALF, PATIENCE_S, Cluster, Journal

pytestmark = pytest.mark.slow

KINDS = ("power", "rank-killed", "rank-stopped", "cable", "slurmd")
FEW, MANY = 2, int(os.environ.get("NHALF_DEATHS", "10"))
NUMBERS = [*range(FEW), *(pytest.param(n, marks=pytest.mark.full) for n in range(FEW, MANY))]
FATAL = {"power", "cable", "slurmd"}
TIMEOUT_S = 4
RUN_MAX_S = 3 * TIMEOUT_S + 100
"""Budget, two waits for what is silent, and asking hosts; on a quiet machine."""


def kill(cluster: Cluster, kind: str, host: str, journal: Journal) -> None:
    """Let a node die in one of the ways in which nodes die."""
    if kind == "power":
        cluster.lab("kill", host)
    elif kind == "cable":
        cluster.lab("link", host, "--down")
    elif kind == "slurmd":
        node = next(node for node in cluster.status()["nodes"] if node["node"] == host)
        os.kill(node["slurmd"], signal.SIGKILL)
    else:
        ranks = journal.events("launch")[-1]["placement"]
        pid = next(rank["pid"] for rank in ranks if rank["host"] == host)
        os.kill(pid, signal.SIGKILL if kind == "rank-killed" else signal.SIGSTOP)


def revive(cluster: Cluster, kind: str, host: str) -> None:
    """Bring a node back, and wait until Slurm knows."""
    if kind in ("power", "slurmd"):
        cluster.lab("restart", host)
    elif kind == "cable":
        cluster.lab("link", host, "--up")
    end_s = time.monotonic() + patience_s(PATIENCE_S)
    while any(node["state"] != "idle" for node in cluster.status()["nodes"]):
        assert time.monotonic() < end_s, cluster.status()
        time.sleep(0.5)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_death(cluster: Cluster, tmp_path: Path, number: int) -> None:
    chance = random.Random(number)
    kind, host = KINDS[number % len(KINDS)], f"n{chance.randint(1, 4)}"
    out = tmp_path / "run"
    journal = Journal(out / "journal.jsonl")
    command = [*NHALF, "run", "--pattern", "exchange", "--bytes", "0:64K", "--launches", "3"]
    command += ["--placement", "3x1,4x1", "--mpi", "mpich", "--launcher", "srun"]
    # A precision out of reach: it ends by its budget, or by the death, and not before.
    command += ["--precision", "0.0001", "--budget", f"{min(patience_s(8), 20):.0f}s"]
    command += ["--timeout", f"{patience_s(TIMEOUT_S):.0f}s", "--out", str(out)]
    process = cluster.start(command)
    end_s = time.monotonic() + patience_s(PATIENCE_S)
    try:
        wanted = chance.randint(2, 6)
        # A launch on all four nodes that has measured something: the victim is part of it.
        while not (
            journal.events("launch")
            and journal.events("launch")[-1]["ranks"] == 4
            and len(journal.points()) >= wanted
        ):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end_s
            time.sleep(0.05)
        before, launches = journal.points(), len(journal.events("launch"))
        kill(cluster, kind, host, journal)
        stdout, stderr = process.communicate(timeout=patience_s(RUN_MAX_S))
        after = journal.points()
        assert after[: len(before)] == before
        # Ranks outlive Slurm's daemon: where no later launch needs that host, nobody misses it.
        later = [
            rank["host"] for one in journal.events("launch")[launches:] for rank in one["placement"]
        ]
        unnoticed = kind == "slurmd" and process.returncode == 0
        assert not (unnoticed and host in later)
        if kind in FATAL and not unnoticed:
            assert process.returncode == 1, stderr
            assert f"lost while measuring: {host}: " in stderr
            assert [event["host"] for event in journal.events("host")] == [host]
            resumed = cluster.run(*NHALF, "run", "--resume", str(out), "--quiet")
            assert resumed.returncode in (0, 1), resumed.stderr
            assert journal.points()[: len(after)] == after
            again = [launch for launch in journal.events("launch")[-1:] if launch["ranks"] == 3]
            assert all(host != rank["host"] for launch in again for rank in launch["placement"])
        else:
            assert process.returncode == 0, stderr
            said = " ".join(stdout.split())
            assert unnoticed or f"on {host} " in said or f"{host}: task" in said, said
            assert not journal.events("host")
        points = journal.points()
        assert len(points) == len(set(points))
        assert Run.open(out).measurements().collect().height == len(points)
    finally:
        process.kill()
        revive(cluster, kind, host)
