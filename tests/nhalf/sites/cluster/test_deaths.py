"""Nodes and ranks that die while a run measures: named, nothing lost, no hang, resumable.

One kind is tried in `make test`; NHALF_DEATHS=20 makes `make test-full` try this many, of all.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from nhalf.measure.plan.budget import VISITS_MAX
from nhalf.store.run import Run
from tests.patience import patience_s

from .conftest import NHALF, PATIENCE_S, Cluster, Journal

pytestmark = pytest.mark.slow

KINDS = ("power", "rank-killed", "rank-stopped", "cable", "slurmd")
FEW, MANY = 1, int(os.environ.get("NHALF_DEATHS", "10"))
NUMBERS = [*range(FEW), *(pytest.param(n, marks=pytest.mark.full) for n in range(FEW, MANY))]
FATAL = {"power", "cable", "slurmd"}
SIZES = "0,8,64,256,512,1K,2K,4K,8K,16K,32K,64K"
EARLY_POINTS = 6
"""A launch with no more points than this is not about to end."""
TIMEOUT_S = 4
RUN_MAX_S = 3 * TIMEOUT_S + 100
"""All planned launches, two waits for what is silent, and asking hosts; on a quiet machine."""


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


def signal_run(journal: Journal, number: signal.Signals) -> None:
    """Signal the front end and what starts it; the probes do not know the folder of the run."""
    folder = os.fsencode(journal.path.parent)
    for command_line in Path("/proc").glob("[0-9]*/cmdline"):
        # Processes end while they are looked at.
        with suppress(OSError):
            if folder in command_line.read_bytes().split(b"\0"):
                os.kill(int(command_line.parent.name), number)


def strike(
    cluster: Cluster, kind: str, host: str, journal: Journal, process: subprocess.Popen[str]
) -> None:
    """Kill while a launch on all four nodes has measured something, however long killing takes.

    The run stands still meanwhile: the victim is part of the launch that it goes on with.
    """
    wanted = random.Random(kind + host).randint(2, 5)
    end_s = time.monotonic() + patience_s(PATIENCE_S)
    while True:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end_s
        signal_run(journal, signal.SIGSTOP)
        try:
            launches = journal.events("launch")
            is_wide = bool(launches) and launches[-1]["ranks"] == 4
            if is_wide and wanted <= journal.points_of_launch() <= EARLY_POINTS:
                return kill(cluster, kind, host, journal)
        finally:
            signal_run(journal, signal.SIGCONT)
        time.sleep(0.05)


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_death(cluster: Cluster, tmp_path: Path, number: int) -> None:
    kind = KINDS[number % len(KINDS)]
    host = f"n{random.Random(number).randint(1, 4)}"
    out = tmp_path / "run"
    journal = Journal(out / "journal.jsonl")
    command = [*NHALF, "run", "--pattern", "exchange", "--bytes", SIZES, "--launches", "3"]
    command += ["--placement", "3x1,4x1", "--mpi", "mpich", "--launcher", "srun"]
    # Without a budget all planned launches are measured, however long they take.
    command += ["--timeout", f"{patience_s(TIMEOUT_S):.0f}s", "--out", str(out)]
    process = cluster.start(command)
    try:
        strike(cluster, kind, host, journal, process)
        before, launches = journal.points(), len(journal.events("launch"))
        stdout, stderr = process.communicate(timeout=patience_s(RUN_MAX_S))
        after = journal.points()
        assert after[: len(before)] == before
        # Ranks outlive Slurm's daemon: where no later launch needs that host, nobody misses it.
        later_hosts = [
            rank["host"]
            for launch in journal.events("launch")[launches:]
            for rank in launch["placement"]
        ]
        unnoticed = kind == "slurmd" and process.returncode == 0
        assert not (unnoticed and host in later_hosts)
        if kind in FATAL and not unnoticed:
            assert process.returncode == 1, stderr
            assert f"lost while measuring: {host}: " in stderr
            assert [event["host"] for event in journal.events("host")] == [host]
            command = [*NHALF, "run", "--resume", str(out), "--quiet"]
            resumed = cluster.run(*command)
            assert resumed.returncode in (0, 1), resumed.stderr
            assert journal.points()[: len(after)] == after
            again = [launch for launch in journal.events("launch")[-1:] if launch["ranks"] == 3]
            assert all(host != rank["host"] for launch in again for rank in launch["placement"])
        else:
            assert process.returncode == 0, stderr
            message = " ".join(stdout.split())
            assert unnoticed or f"on {host} " in message or f"{host}: task" in message, message
            assert not journal.events("host")
        points = journal.points()
        assert max(Counter(points).values()) <= VISITS_MAX
        assert Run.open(out).measurements().collect().height == len(points)
    finally:
        process.kill()
        revive(cluster, kind, host)
