"""`nhalf run --submit`: jobs that end badly, and users who go away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.patience import patience_s

Call = Callable[..., Any]
pytestmark = pytest.mark.slow


class TestBadEnds:
    def test_a_job_that_times_out_says_how_to_go_on(
        self, call: Call, cluster: Any, tmp_path: Path, submit: Call
    ) -> None:
        cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
        cluster.state("TIMEOUT", "TimeLimit")
        ended = submit("--out", "r", "--quiet")
        ended.is_error(1, "job 7 ended as TIMEOUT (TimeLimit), no point was finished")
        assert f"go on with: nhalf run --resume {tmp_path}/r --submit" in ended.err
        # The first job never began, so the second one begins.
        cluster.works()
        assert call("run", "--resume", "r", "--submit", "--quiet").code == 1
        cluster.forget()
        ended = call("run", "--resume", "r", "--submit", "--json")
        assert ended.code == 0, ended.err
        assert len(json.loads(ended.out)["points"]) == 2

    @pytest.mark.parametrize(
        ("state", "code"),
        [("CANCELLED", 130), ("NODE_FAIL", 1), ("OUT_OF_MEMORY", 1), ("PREEMPTED", 1)],
    )
    def test_others(self, state: str, code: int, cluster: Any, submit: Call) -> None:
        cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
        cluster.state(state)
        ended = submit("--out", "r", "--quiet")
        assert (ended.code, ended.out) == (code, "")
        assert f"job 7 ended as {state}, no point was finished; go on with:" in ended.err
        assert ended.err.count("\n") == 1

    def test_what_nhalf_cannot_do_in_the_job_is_told(self, call: Call, cluster: Any) -> None:
        words = ["run", "--mpi", "nonsuch", "--bytes", "8", "--submit", "--quiet", "--out", "r"]
        ended = call(*words)
        assert ended.code in (2, 3), ended.err
        assert "nonsuch" in ended.err and "job 7 ended as FAILED" in ended.err
        assert ended.err.count("\n") == 1

    def test_an_old_complaint_is_not_told_again(
        self, call: Call, cluster: Any, tmp_path: Path
    ) -> None:
        words = ["run", "--mpi", "nonsuch", "--bytes", "8", "--submit", "--quiet", "--out", "r"]
        assert "nonsuch" in call(*words).err
        cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
        cluster.state("BOOT_FAIL")
        ended = call("run", "--resume", "r", "--submit", "--quiet")
        assert "BOOT_FAIL" in ended.err and "nonsuch" not in ended.err

    def test_a_refusal_leaves_nothing(self, cluster: Any, tmp_path: Path, submit: Call) -> None:
        cluster.tool("sbatch", 'echo "sbatch: error: invalid partition specified: x" >&2; exit 1')
        submit("--out", "deep/r", "--quiet").is_error(2, "invalid partition specified: x")
        assert not (tmp_path / "deep/r").exists()

    def test_a_refusal_leaves_a_run_as_it_was(
        self, call: Call, cluster: Any, tmp_path: Path, run_words: list[str]
    ) -> None:
        assert call(*run_words, "--out", "r", "--quiet").code == 0
        before = sorted(path.name for path in (tmp_path / "r").iterdir())
        cluster.tool("sbatch", 'echo "sbatch: error: no" >&2; exit 1')
        call("run", "--resume", "r", "--submit", "--quiet").is_error(2, "sbatch: no")
        assert sorted(path.name for path in (tmp_path / "r").iterdir()) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_who_goes_away_leaves_the_job_running(
    number: signal.Signals, run_words: list[str], cluster: Any, tmp_path: Path
) -> None:
    cluster.tool("sbatch", '[ "$1" = --test-only ] || echo 7')
    cluster.state("PENDING", "Resources")
    process = subprocess.Popen(
        [sys.executable, "-m", "nhalf", *run_words, "--submit", "--out", "r"],
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
    _, said = process.communicate(timeout=patience_s(60))
    assert process.returncode == 130
    assert said.splitlines()[-1] == (
        "nhalf: job 7 goes on by itself; look again with: nhalf run --resume "
        f"{tmp_path}/r --submit; or cancel it with: scancel 7"
    )
