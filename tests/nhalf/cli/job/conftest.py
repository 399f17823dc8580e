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


QSUB = r"""
[ "$1" = --version ] && { echo "pbs_version = 23.06.06"; exit 0; }
case $(sed -n 's/^#PBS -N //p' "$1") in
[!A-Za-z]*|*[!A-Za-z0-9_.+-]*|'') echo "qsub: illegal -N value" >&2; exit 2 ;;
esac
grep -q '^#PBS -q nix' "$1" && { echo "qsub: Unknown queue" >&2; exit 170; }
echo 7 >> jobs
printf 'n1\nn1\nn2\nn2\n' > nodes
env PBS_JOBID=7.server PBS_NODEFILE=$PWD/nodes setsid sh -c \
    '[ -e held ] || { sh "$1"; echo $? > code; }' x "$1" > spool 2>&1 &
echo $! > pid
echo 7.server
"""
QSTAT = r"""
if [ ! -e jobs ]; then echo "qstat: Unknown Job Id 7.server" >&2; exit 153; fi
echo "Job Id: 7.server"
echo "    Job_Name = nhalf-r"
if [ -e code ] || [ -e deleted ]; then echo "    job_state = F"
elif [ -e held ]; then echo "    job_state = Q"; else echo "    job_state = R"; fi
printf '    exec_host = n1/0*2+\n\tn2/0*2\n'
echo "    Resource_List.walltime = 00:06:00"
echo "    comment = Job run at Mon Nov 30 at 05:19 on (n1:ncpus=2)"
echo "    stime = $(LC_ALL=C date '+%a %b %e %H:%M:%S %Y')"
if [ -e deleted ]; then echo "    substate = 91"; echo "    Exit_status = 271"
elif [ -e code ]; then echo "    Exit_status = $(cat code)"; fi
"""
QDEL = "touch deleted"
PBSNODES = r"""
for n in 1 2 3; do printf "n$n\n     state = free\n     resources_available.ncpus = 2\n\n"; done
"""
FLUX = r"""
case $1 in
uptime) echo " 05:19:08 run 2.1d,  owner flux,  depth 0,  size 3" ;;
batch)
    grep -q '^# flux: --queue=nix' "$2" && { echo "flux-batch: ERROR: [Errno 22] Invalid queue \
'nix' specified" >&2; exit 1; }
    eval "out=$(sed -n 's/^# flux: --output=//p' "$2")"
    echo 7 >> jobs
    env FLUX_URI=local:///run/x FLUX_ENCLOSING_ID=fM7Zq9AKHno setsid sh -c \
        '[ -e held ] || { sh "$1" >> "$2" 2>&1; echo $? > code; }' x "$2" "$out" > spool 2>&1 &
    echo $! > pid
    echo fM7Zq9AKHno ;;
jobs)
    if [ ! -e jobs ]; then echo "flux-jobs: ERROR: JobID fM7Zq9AKHno unknown" >&2; exit 1; fi
    if [ -e deleted ]; then echo "CANCELED|-15|n[1-2]|n[1-2]|cancel|by the user"
    elif [ -e held ]; then echo "SCHED|||held||"
    elif [ ! -e code ]; then echo "RUN||n[1-2]|n[1-2]||"
    elif [ "$(cat code)" = 0 ]; then echo "COMPLETED|0|n[1-2]|n[1-2]||"
    else echo "FAILED|$(cat code)|n[1-2]|n[1-2]||"; fi ;;
cancel) touch deleted ;;
resource)
    if [ "$2" = list ]; then echo "n[1-2]"; echo n3
    else echo '{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core":
"0-1"}}], "nodelist": ["n[1-2]"]}}'; fi ;;
job) echo 360 ;;
esac
"""


class OtherSystem(Cluster):
    """PBS or Flux, whose tools act as their documents say."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        for tool, text in SYSTEMS[name].items():
            self.tool(tool, text)

    def waits(self) -> None:
        """Jobs are taken and stay in the queue."""
        (self.tools / "held").touch()


SYSTEMS = {
    "pbs": {"qsub": QSUB, "qstat": QSTAT, "qdel": QDEL, "pbsnodes": PBSNODES},
    "flux": {"flux": FLUX},
}


@pytest.fixture(params=list(SYSTEMS))
def other_system(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OtherSystem]:
    """Each batch system but Slurm, of shell scripts, first in PATH."""
    made = OtherSystem(request.param, tmp_path)
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
