# SPDX-License-Identifier: Apache-2.0
"""`nhalf run --submit` with a Slurm of shell scripts, which runs jobs at once, on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError

Call = Callable[..., Any]
MODEL = ["--transport", "model", "--model", "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-10"]
RUN = ["run", *MODEL, "--bytes", "0,8", "--launches", "2", "--budget", "20s", "--submit"]

SBATCH = """
[ "$1" = --test-only ] && exit 0
echo 7 >> jobs
env SLURM_JOB_ID=7 setsid sh -c 'sh "$1" >> "$2" 2>&1; echo $? > code' x "$2" "${2%.sh}.out" &
echo $! > pid
echo 7
"""
SCONTROL = """
if [ -e state ]; then cat state
elif [ ! -e code ]; then echo "JobState=RUNNING Reason=None Dependency=(null)"; echo "NodeList=n1"
elif [ "$(cat code)" = 0 ]; then echo "JobState=COMPLETED Reason=None ExitCode=0:0"
else echo "JobState=FAILED Reason=NonZeroExitCode ExitCode=$(cat code):0"; fi
"""


def built() -> bool:
    try:
        return bool(native_files.executable("probe-model"))
    except NhalfError:
        return False


pytestmark = [pytest.mark.slow, pytest.mark.skipif(not built(), reason="the probes are not built")]


class Cluster:
    """The folder in which the scripts keep what they know."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.tool("sbatch", SBATCH)
        self.tool("scontrol", SCONTROL)
        self.tool("sacct", "exit 1")
        self.tool("squeue", "echo UNLIMITED")
        self.tool("sinfo", 'echo "n1 all*"; echo "n2 all*"; echo "n3 all*"')

    def tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(f"#!/bin/sh\ncd {self.folder}/tools\n{text}")
        (self.tools / name).chmod(0o755)

    @property
    def jobs(self) -> int:
        """How many jobs were submitted."""
        file = self.tools / "jobs"
        return len(file.read_text().split()) if file.exists() else 0

    def forget(self) -> None:
        """What came of the last job."""
        for name in ("code", "state"):
            (self.tools / name).unlink(missing_ok=True)

    def state(self, name: str, reason: str = "None") -> None:
        (self.tools / "state").write_text(f"JobState={name} Reason={reason} ExitCode=0:0\n")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A Slurm of shell scripts, first in PATH."""
    made = Cluster(tmp_path)
    monkeypatch.setenv("PATH", f"{made.tools}{os.pathsep}{os.environ['PATH']}")
    yield made
    pid = made.tools / "pid"
    if pid.exists() and not (made.tools / "code").exists():
        subprocess.run(["kill", pid.read_text().strip()], check=False, capture_output=True)


def events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


class TestWhole:
    def test_it_ends_as_a_run_here_does(self, call: Call, cluster: Cluster, tmp_path: Path) -> None:
        here = call(*RUN[:-1], "--out", "here", "--json")
        there = call(*RUN, "--out", "it's there", "--json")
        assert (there.code, there.err) == (here.code, here.err) == (0, "")
        mine, others = json.loads(here.out), json.loads(there.out)
        assert others.pop("run") == str(tmp_path / "it's there")
        assert mine.pop("run") == str(tmp_path / "here")
        assert others == mine
        ended = call("run", "--resume", "it's there", "--submit")
        assert ended.code == 0, ended.err
        assert cluster.jobs == 2
        assert "COMPLETED" in ended.err and "latency" in ended.out

    def test_the_report_is_written_here(self, call: Call, cluster: Cluster, tmp_path: Path) -> None:
        ended = call(*RUN, "--out", "r", "--report", "--quiet")
        assert (ended.code, ended.err, ended.out) == (0, "", "")
        assert (tmp_path / "r/report.html").exists()
        assert "--report" not in (tmp_path / "r/job.sh").read_text()

    def test_nobody_has_to_wait(self, call: Call, cluster: Cluster, tmp_path: Path) -> None:
        ended = call(*RUN, "--out", "r", "--no-wait", "--json")
        assert json.loads(ended.out) == {"job": "7", "run": str(tmp_path / "r")}
        assert (ended.code, ended.err) == (0, "")
        refused = call(*RUN, "--out", "r")
        refused.is_error(2, "holds a run already", f"--resume {tmp_path}/r --submit")
        later = call("run", "--resume", "r", "--submit", "--json")
        assert (later.code, later.err) == (0, "")
        assert len(json.loads(later.out)["points"]) == 2
        assert cluster.jobs == 1, "the job that is there is followed"
        shown = call(*RUN, "--out", "s", "--no-wait")
        assert shown.out == f"job 7\nrun {tmp_path}/s\n"


class TestNodes:
    @pytest.mark.parametrize(
        ("words", "nodes"),
        [
            ([], "--nodes=1"),
            (["--placement", "cores,3x2,2x1"], "--nodes=3"),
            (["--placement", "other-node"], "--nodes=2"),
            (["--placement", "2x1", "--job", "-N 3"], "-N 3"),
            (["--hosts", "n[1-2]"], "--nodes=2\n"),
        ],
    )
    def test_are_those_of_the_placements_or_the_users(
        self, words: list[str], nodes: str, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        ended = call(*RUN, *words, "--out", "r", "--no-wait")
        assert ended.code == 0, ended.err
        script = (tmp_path / "r/job.sh").read_text()
        assert f"#SBATCH {nodes}" in script
        assert ("#SBATCH --nodelist=n1,n2\n" in script) == ("--hosts" in words)
        assert "#SBATCH --time=6\n" in script, "20 s, a tenth more, and 5 min, in whole minutes"

    def test_too_few_are_seen_before_anything_is_written(
        self, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        words = [*RUN, "--out", "r", "--placement", "4x2"]
        call(*words, "--job", "--nodes=2").is_error(2, "needs 4 hosts", "--nodes=2")
        call(*words, "--hosts", "n1,n2").is_error(2, "needs 4 hosts", "--hosts gives 2")
        assert cluster.jobs == 0
        assert not (tmp_path / "r").exists()

    def test_a_run_goes_on_with_those_that_are_up(
        self, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        words = [*RUN[:-1], "--hosts", "n[1-4]", "--out", "r", "--quiet"]
        assert call(*words).code == 0, "the model machine needs no hosts"
        cluster.state("PENDING")
        ended = call("run", "--resume", "r", "--submit", "--no-wait")
        assert ended.code == 0, ended.err
        script = (tmp_path / "r/job.sh").read_text()
        assert "#SBATCH --nodes=3\n" in script and "#SBATCH --nodelist=n1,n2,n3\n" in script
        assert f"run --resume {tmp_path}/r --hosts=n1,n2,n3\n" in script
        (tmp_path / "r/job.json").unlink()
        cluster.tool("sinfo", 'echo "m1 all*"')
        call("run", "--resume", "r", "--submit").is_error(3, "none of n1, n2, n3, n4 is up")


class TestBadEnds:
    def test_a_job_that_times_out_says_how_to_go_on(
        self, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
        cluster.state("TIMEOUT", "TimeLimit")
        ended = call(*RUN, "--out", "r", "--quiet")
        ended.is_error(1, "job 7 ended as TIMEOUT (TimeLimit), no point was finished")
        assert f"go on with: nhalf run --resume {tmp_path}/r --submit" in ended.err
        # The first job never began, so the second one begins.
        cluster.tool("sbatch", SBATCH)
        cluster.tool("scontrol", SCONTROL)
        assert call("run", "--resume", "r", "--submit", "--quiet").code == 1
        cluster.forget()
        ended = call("run", "--resume", "r", "--submit", "--json")
        assert ended.code == 0, ended.err
        assert len(json.loads(ended.out)["points"]) == 2

    @pytest.mark.parametrize(
        ("state", "code"),
        [("CANCELLED", 130), ("NODE_FAIL", 1), ("OUT_OF_MEMORY", 1), ("PREEMPTED", 1)],
    )
    def test_others(self, state: str, code: int, call: Call, cluster: Cluster) -> None:
        cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
        cluster.state(state)
        ended = call(*RUN, "--out", "r", "--quiet")
        assert (ended.code, ended.out) == (code, "")
        assert f"job 7 ended as {state}, no point was finished; go on with:" in ended.err
        assert ended.err.count("\n") == 1

    def test_what_nhalf_cannot_do_in_the_job_is_told(self, call: Call, cluster: Cluster) -> None:
        words = ["run", "--mpi", "nonsuch", "--bytes", "8", "--submit", "--quiet", "--out", "r"]
        ended = call(*words)
        assert ended.code in (2, 3), ended.err
        assert "nonsuch" in ended.err and "job 7 ended as FAILED" in ended.err
        assert ended.err.count("\n") == 1

    def test_an_old_complaint_is_not_told_again(
        self, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        words = ["run", "--mpi", "nonsuch", "--bytes", "8", "--submit", "--quiet", "--out", "r"]
        assert "nonsuch" in call(*words).err
        cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
        cluster.state("BOOT_FAIL")
        ended = call("run", "--resume", "r", "--submit", "--quiet")
        assert "BOOT_FAIL" in ended.err and "nonsuch" not in ended.err

    def test_a_refusal_leaves_nothing(self, call: Call, cluster: Cluster, tmp_path: Path) -> None:
        cluster.tool("sbatch", 'echo "sbatch: error: invalid partition specified: x" >&2; exit 1')
        call(*RUN, "--out", "deep/r", "--quiet").is_error(2, "invalid partition specified: x")
        assert not (tmp_path / "deep/r").exists()

    def test_a_refusal_leaves_a_run_as_it_was(
        self, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        assert call(*RUN[:-1], "--out", "r", "--quiet").code == 0
        before = sorted(path.name for path in (tmp_path / "r").iterdir())
        cluster.tool("sbatch", 'echo "sbatch: error: no" >&2; exit 1')
        call("run", "--resume", "r", "--submit", "--quiet").is_error(2, "sbatch: no")
        assert sorted(path.name for path in (tmp_path / "r").iterdir()) == before


class TestInput:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--job", "run.sh"], "'run.sh' in --job is no option"),
            (["--job", "--output=x"], "--output"),
            (["--pattern", "pingpnog"], "pingpnog"),
            (["--bytes", "many"], "many"),
            (["--hosts", "n[1-"], "n[1-"),
            (["--placement", "0x1"], "0x1"),
            (["--budget", "soon"], "soon"),
        ],
    )
    def test_is_checked_before_it_waits_in_a_queue(
        self, words: list[str], said: str, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        call(*RUN, *words, "--out", "r").is_error(2, said)
        assert cluster.jobs == 0
        assert not (tmp_path / "r").exists()

    def test_options_of_jobs_need_one(self, call: Call, tmp_path: Path) -> None:
        call(*RUN[:-1], "--job", "--nodes=2").is_error(2, "--job belongs to --submit")
        call(*RUN[:-1], "--no-wait").is_error(2, "--no-wait belongs to --submit")

    def test_a_run_that_is_none_cannot_go_on(
        self, call: Call, cluster: Cluster, tmp_path: Path
    ) -> None:
        (tmp_path / "r").mkdir()
        call("run", "--resume", "r", "--submit").is_error(2, "not a run directory")
        (tmp_path / "r/job.json").write_text("{")
        call("run", "--resume", "r", "--submit").is_error(2, "job.json cannot be read")
        call("run", "--resume", "r", "--submit", "--bytes", "8").is_error(2, "--bytes")

    def test_without_slurm_it_says_so(self, call: Call, tmp_path: Path) -> None:
        nothing = tmp_path / "nothing"
        nothing.mkdir()
        call(*RUN, PATH=str(nothing)).is_error(3, "no batch system", "without --submit")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_who_goes_away_leaves_the_job_running(
    number: signal.Signals, call: Call, cluster: Cluster, tmp_path: Path
) -> None:
    cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
    cluster.state("PENDING", "Resources")
    process = subprocess.Popen(
        [sys.executable, "-m", "nhalf", *RUN, "--out", "r"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    heard = ""
    while "PENDING (Resources)" not in heard:
        line = process.stderr.readline()
        assert line, heard
        heard += line
    time.sleep(0.1)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == (
        "nhalf: job 7 goes on by itself; look again with: nhalf run --resume "
        f"{tmp_path}/r --submit; or cancel it with: scancel 7"
    )
