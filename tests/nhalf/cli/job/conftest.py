"""A Slurm of shell scripts, which runs jobs at once, on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError

MODEL = ["--transport", "model", "--model", "o_s=1e-6,o_r=1e-6,g=2e-6,L=5e-6,G=1e-10"]
RUN = ["run", *MODEL, "--bytes", "0,8", "--launches", "2", "--budget", "20s"]

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


class Cluster:
    """The folder in which the scripts keep what they know."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.works()
        self.tool("sacct", "exit 1")
        self.tool("squeue", "echo UNLIMITED")
        self.tool("sinfo", 'echo "n1 all*"; echo "n2 all*"; echo "n3 all*"')

    def tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(f"#!/bin/sh\ncd {self.folder}/tools\n{text}")
        (self.tools / name).chmod(0o755)

    def works(self) -> None:
        """Jobs are taken and run."""
        self.tool("sbatch", SBATCH)
        self.tool("scontrol", SCONTROL)

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


@pytest.fixture
def run_words() -> list[str]:
    """The words of a short run, which measures here; skips where the probes are not built."""
    try:
        native_files.executable("probe-model")
    except NhalfError:
        pytest.skip("the probes are not built")
    return RUN


@pytest.fixture
def submit(call: Callable[..., Any], run_words: list[str]) -> Callable[..., Any]:
    """Calls nhalf for that run as a job; the words are added."""
    return lambda *words, **environment: call(*run_words, "--submit", *words, **environment)
