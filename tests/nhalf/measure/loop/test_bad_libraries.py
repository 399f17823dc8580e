"""Real runs on libraries whose mpiexec fails, hangs or talks, and with more ranks than cores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.sites.start import cores
from tests.patience import duration
from tests.probes import is_built

FOUND = newest(libraries())
HYDRA = [one for one in FOUND if one.vendor == "mpich" and one.abi]
LAUNCHES = 2
Fake = Callable[[str], str]
Watch = Callable[..., Any]


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich"),
    pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built"),
]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Its own prefix whose mpiexec does something before, or instead of, the real one.

    The name of the library there comes back; asked for its version, it answers as the real one.
    """
    real = HYDRA[0]

    def make(body: str) -> str:
        prefix = tmp_path / "fake"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib").symlink_to(real.prefix / "lib")
        path = prefix / "bin" / "mpiexec"
        path.write_text(
            f'#!/bin/sh\ncase "$*" in *probe-*) ;; *) exec {real.mpiexec} "$@" ;; esac\n'
            f'{body}\nexec {real.mpiexec} "$@"\n'
        )
        path.chmod(0o755)
        before = os.environ.get("NHALF_MPI_PREFIXES", "")
        monkeypatch.setenv("NHALF_MPI_PREFIXES", f"{before}:{prefix}".strip(":"))
        return next(one.name for one in libraries() if one.mpiexec == path)

    return make


def run(watched: Watch, out: Path, *words: str) -> tuple[int, str, str]:
    effort = ("--launches", str(LAUNCHES), "--bytes", "0,8", "--precision", "0.9")
    budget = () if "--budget" in words else ("--budget", duration(6))
    asked = (*words, *effort, *budget, "--out", out, "--json")
    ended: tuple[int, str, str] = watched("run", *asked).wait()
    return ended


BAD = [
    ("echo 'not enough slots' >&2; exit 1", "exit code 1: not enough slots"),
    ("exit 0", "ended with exit code 0"),
    ("kill -9 $$", "ended with signal 9"),
    pytest.param("sleep 1000", "no answer within 2 s", marks=pytest.mark.full),
    ("trap '' TERM; sleep 1000", "no answer within 2 s"),
    pytest.param("exec yes noise", "no answer within 2 s: noise", marks=pytest.mark.full),
]


@pytest.mark.parametrize(("body", "said"), BAD)
def test_one_that_does_not_start_is_one_clear_line(
    watched: Watch, fake: Fake, tmp_path: Path, body: str, said: str
) -> None:
    code, out, err = run(watched, tmp_path / "r", "--mpi", fake(body), "--timeout", "2s")
    assert (code, out) == (3, "")
    assert err.startswith("nhalf: error: nothing could be measured: ")
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "r").exists()


COPIES = """
while [ ! -x "$1" ] || [ -d "$1" ]; do
  case $1 in --ntasks=*) ranks=${1#*=} ;; -n) ranks=$2 ;; esac
  shift
done
while [ $ranks -gt 1 ]; do "$@" </dev/null & ranks=$((ranks - 1)); done
"$@"; wait; exit
"""
"""Starts the ranks without any process management, so that each is alone in its world."""


@pytest.mark.parametrize("options", ["", "--mpi=none"])
def test_copies_that_do_not_find_each_other_are_told_by_name(
    watched: Watch, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    words = ("--ranks", "4", "--timeout", "3600s")
    if options:
        listed = "printf 'MPI plugin types are...\\n\\tnone\\n\\tpmi2\\n'"
        srun = tmp_path / "bin/srun"
        srun.parent.mkdir()
        srun.write_text(f'#!/bin/sh\n[ "$*" = --mpi=list ] && {listed} && exit\n{COPIES}')
        srun.chmod(0o755)
        monkeypatch.setenv("PATH", str(srun.parent), prepend=":")
        # Otherwise nhalf asks for an allocation first.
        monkeypatch.setenv("SLURM_JOB_ID", "1")
        monkeypatch.setenv("SLURM_MPI_TYPE", options.partition("=")[2])
        chosen = ("--mpi", HYDRA[0].name, "--launcher", "srun")
        said = f"srun {options} started 4 worlds of one rank instead of one world of 4"
        remedy = "choose pmi2 with SLURM_MPI_TYPE"
    else:
        chosen = ("--mpi", fake(COPIES))
        said = "hydra started 4 worlds of one rank instead of one world of 4"
        remedy = "take other MPI libraries off LD_LIBRARY_PATH"
    code, out, err = run(watched, tmp_path / "r", *chosen, *words)
    assert (code, out) == (3, "")
    assert said in err
    assert remedy in err
    assert err.count("\n") == 1


def test_the_reason_is_said_where_the_time_is_up_after_the_first_try(
    watched: Watch, fake: Fake, tmp_path: Path
) -> None:
    effort = ("--timeout", "2s", "--budget", "0.5s")
    code, out, err = run(watched, tmp_path / "r", "--mpi", fake("sleep 1000"), *effort)
    assert (code, out) == (3, "")
    assert "nothing could be measured: " in err
    assert "no answer within 2 s" in err


def test_the_other_library_is_measured(watched: Watch, fake: Fake, tmp_path: Path) -> None:
    """The one in the given prefix takes the name of the one that is installed."""
    bad, good = fake("echo 'no licence' >&2; exit 1"), f"{HYDRA[0].name}-wheel"
    effort = ("--budget", duration(60))
    code, out, err = run(watched, tmp_path / "r", "--mpi", f"{bad},{good}", *effort)
    assert code == 0, err
    points = json.loads(out)["points"]
    assert {p["mpi"] for p in points} == {HYDRA[0].name}
    assert min(map(launches_in_all, points)) >= LAUNCHES
    assert len(points) == 2
    assert f"nhalf: not measured: {bad}: " in err
    assert "no licence" in err
    assert err.count("\n") == 1
    shown = watched("run", "--resume", tmp_path / "r").wait()
    assert shown[0] == 0
    assert "not measured" in shown[1]


def launches_in_all(point: dict[str, Any]) -> int:
    """A point tells of the launches in one state of the machine, a share of all."""
    return round(point["launches"] / point["state_share"])


NOISE = [
    "echo '*** welcome ***'; echo '{'; echo '{\"nhalf\":'",
    "printf 'a warning without a line end '",
    "(for i in 1 2 3 4 5 6 7 8 9; do echo later $i; sleep 0.2; done) &",
    'head -c 200000 /dev/zero; echo; echo \'{"nhalf":"point","id":"0"}\'',
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("body", NOISE)
def test_one_that_talks_is_measured(watched: Watch, fake: Fake, tmp_path: Path, body: str) -> None:
    code, out, err = run(watched, tmp_path / "r", "--mpi", fake(body))
    assert (code, err) == (0, "")
    points = json.loads(out)["points"]
    assert [p["bytes"] for p in points] == [0, 8]
    assert min(map(launches_in_all, points)) >= LAUNCHES


def test_an_unknown_library_is_one_clear_line(watched: Watch, tmp_path: Path) -> None:
    wrong = HYDRA[0].name.replace("mpich", "mpihc")
    code, out, err = run(watched, tmp_path / "r", "--mpi", wrong)
    assert (code, out) == (2, "")
    assert f"unknown MPI library {wrong!r}; did you mean {HYDRA[0].name}" in err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    "library",
    [pytest.param(library, marks=[pytest.mark.full] * (i > 0)) for i, library in enumerate(FOUND)],
    ids=lambda one: one.name,
)
def test_more_ranks_than_cores_work_with_a_doubt(
    watched: Watch, tmp_path: Path, library: Library
) -> None:
    ranks = cores() + 1
    code, out, err = run(watched, tmp_path / "r", "--mpi", library.name, "--ranks", str(ranks))
    assert code == 0, err
    points = json.loads(out)["points"]
    assert {(p["ranks"], p["verified"]) for p in points} == {(ranks, True)}
    assert all("oversubscribed" in p["advice"] for p in points)
