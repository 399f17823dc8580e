"""Under each form's file the plain command takes as long as it was proven to take.

Times are those of a simulated machine, and so are equal to the last digit.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.experiment.improve.left_behind import LeftBehind, leave
from nhalf.experiment.improve.situation import Situation
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.launch_settings import LaunchCommand, parse_launch
from nhalf.mpi.vendors import vendor_of
from tests.nhalf.experiment.improve.forms.test_texts import LMOD, MODULECMD
from tests.nhalf.measure.virtual.programs import built, library_of
from tests.patience import patience_s

RANKS, SIZE_BYTES = 4, 4096
SLOW = {"mpich": "ring", "openmpi": "basic_linear", "intel": "7"}
QUICK = {"mpich": "reduce_scatter_allgather", "openmpi": "rabenseifner", "intel": "13"}
TIMES = [f"allreduce:{SIZE_BYTES}", "allreduce:8"]
LAB = f"forms-{os.getpid()}"


class Tried:
    """A program on a simulated machine, with a rule for one of the sizes that it sends."""

    def __init__(self, vendor: str, folder: Path, algorithm: str = "") -> None:
        library = library_of(vendor)
        program = built(vendor, "operation_times", folder)
        nhalf = [sys.executable, "-m", "nhalf", "try", "--json", "--machine", "altix-bx2"]
        words = [*nhalf, "--ranks", str(RANKS), "--mpi", library.name, "--", str(program)]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.launch: LaunchCommand = parse_launch([*words, "20", *TIMES], self.environment)
        tuner = vendor_of(library).tuner(library)
        assert tuner is not None
        rule = Rule("allreduce", RANKS, RANKS, SIZE_BYTES, SIZE_BYTES, algorithm or SLOW[vendor])
        change = LaunchChange(rules=tuple(tuner.expressible([rule])), tuner=tuner)
        self.candidate = Candidate("ruled", "", "", change)
        self.situation = Situation(self.launch, library)

    def left(self, out: Path) -> LeftBehind:
        """The file of the rule."""
        return leave(out, "", self.situation, [self.candidate], ["proven"])

    def virtual_s(self, words: list[str], before: str = "") -> float:
        """The time of a command in virtual seconds, after what a shell does."""
        command = ["bash", "-c", f"{before}; exec {shlex.join(words)}"] if before else words
        done = subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience_s(300),
        )
        assert done.returncode == 0, done.stderr
        return time_in(done.stdout)


def time_in(text: str) -> float:
    begin = text.rfind('{"schema":')
    time_s = json.JSONDecoder().raw_decode(text[begin:])[0]["virtual_s"]
    assert isinstance(time_s, float)
    return time_s


def by_variables(tried: Tried, left: LeftBehind) -> float:
    """As the end of a search says it."""
    return tried.virtual_s(tried.launch.words, "; ".join(left.winner.variable_lines))


def by_script(tried: Tried, left: LeftBehind) -> float:
    return tried.virtual_s([str(left.file)])


def by_lmod(tried: Tried, left: LeftBehind) -> float:
    if not LMOD.exists():
        pytest.skip("no Lmod here: apt-get install lmod")
    assert left.file is not None
    use = f". {LMOD}; module use {left.file.parent}; module load better"
    return tried.virtual_s(tried.launch.words, use)


def by_modules(tried: Tried, left: LeftBehind) -> float:
    if not MODULECMD.exists():
        pytest.skip("no modules here: apt-get install environment-modules")
    load = f'eval "$(tclsh {MODULECMD} bash load {left.file})"'
    return tried.virtual_s(tried.launch.words, load)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("vendor", list(SLOW))
def test_a_setting_is_in_force_under_every_form(vendor: str, tmp_path: Path) -> None:
    tried = Tried(vendor, tmp_path)
    ways: dict[str, Callable[[Tried, LeftBehind], float]] = {
        "better.sh": by_script,
        "better.rules": by_variables,
        "better.slurm": by_script,
    }
    quick = Tried(vendor, tmp_path, QUICK[vendor])
    quick_s = by_variables(quick, quick.left(tmp_path / "quick.rules"))
    times_s = {name: way(tried, tried.left(tmp_path / name)) for name, way in ways.items()}
    assert len(set(times_s.values())) == 1, times_s
    assert times_s["better.sh"] > 1.02 * quick_s


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("vendor", list(SLOW))
@pytest.mark.parametrize(("name", "way"), [("better.lua", by_lmod), ("better.tcl", by_modules)])
def test_a_module_has_the_setting(
    name: str, way: Callable[[Tried, LeftBehind], float], vendor: str, tmp_path: Path
) -> None:
    tried = Tried(vendor, tmp_path)
    (tmp_path / "modules").mkdir()
    left = tried.left(tmp_path / "modules" / name)
    assert way(tried, left) == by_variables(tried, left) != tried.virtual_s(tried.launch.words)


@pytest.fixture
def in_lab() -> Iterator[list[str]]:
    """The words that run a command on the head of a cluster with Slurm."""
    if os.geteuid() != 0 or shutil.which("slurmctld") is None:
        pytest.skip("a lab needs the superuser and Slurm")
    nhalf = [sys.executable, "-m", "nhalf", "lab"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    up = [*nhalf, "up", "--nodes", "2", "--cores", "2", "--no-install", "--name", LAB]
    done = subprocess.run(
        up, env=environment, capture_output=True, text=True, timeout=patience_s(120), check=False
    )
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    yield [*nhalf, "exec", "--name", LAB, "--"]
    down = [*nhalf, "down", "--name", LAB]
    subprocess.run(down, env=environment, check=True, capture_output=True, timeout=patience_s(120))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("vendor", list(SLOW))
def test_slurm_runs_it(vendor: str, in_lab: list[str], tmp_path: Path) -> None:
    tried = Tried(vendor, tmp_path)
    left = tried.left(tmp_path / "better.sbatch")
    out = tmp_path / "job.out"
    submit = ["sbatch", "--wait", "--output", str(out), str(left.file)]
    done = subprocess.run(
        [*in_lab, *submit],
        env=tried.environment,
        capture_output=True,
        text=True,
        timeout=patience_s(300),
        check=False,
    )
    assert done.returncode == 0, done.stderr + (out.read_text() if out.exists() else "")
    assert time_in(out.read_text()) == by_variables(tried, left)


@pytest.mark.full
@pytest.mark.slow
def test_slurm_starts_ranks_with_the_variables_and_options(
    in_lab: list[str], tmp_path: Path
) -> None:
    library = library_of("mpich")
    words = ["srun", "--mpi=none", "-n", "2", "sh", "-c", 'echo "$ADDED $SLURM_NTASKS [$GONE]"']
    launch = parse_launch(words, {"GONE": "x", "PATH": os.environ["PATH"]})
    change = LaunchChange({"ADDED": "it's", "GONE": None})
    situation = Situation(launch, library)
    left = leave(
        tmp_path / "job.sbatch", "", situation, [Candidate("both", "", "", change)], ["proven"]
    )
    assert left.file is not None
    out = tmp_path / "job.out"
    text = left.file.read_text()
    submit = ["env", "GONE=x", "sbatch", "--wait", "-n", "2", "--output", str(out), str(left.file)]
    done = subprocess.run(
        [*in_lab, *submit],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=patience_s(300),
        check=False,
    )
    assert done.returncode == 0, text + done.stderr
    assert out.read_text().splitlines() == ["it's 2 []"] * 2


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("vendor", list(SLOW))
def test_a_module_reaches_the_ranks_on_both_nodes_of_a_job(
    vendor: str, in_lab: list[str], tmp_path: Path
) -> None:
    if not LMOD.exists():
        pytest.skip("no Lmod here: apt-get install lmod")
    tried = Tried(vendor, tmp_path)
    (tmp_path / "modules").mkdir()
    left = tried.left(tmp_path / "modules" / "better.lua")
    assert left.file is not None
    names = sorted(left.winner.exported)
    shown = "; ".join(f'printf "%s\\n" "${name}"' for name in names)
    ranks = shlex.join(["salloc", "-N2", "-n2", "srun", "--mpi=none", "sh", "-c", shown])
    load = f". {LMOD}; module use {left.file.parent}; module load better"
    done = subprocess.run(
        ["bash", "-c", f"{load}; exec {shlex.join(in_lab)} {ranks}"],
        env=tried.environment,
        capture_output=True,
        text=True,
        timeout=patience_s(300),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = [left.winner.exported[name] for name in names]
    assert sorted(done.stdout.splitlines()) == sorted(2 * expected)
