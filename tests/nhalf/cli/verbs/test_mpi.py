"""`nhalf mpi` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patience_s


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty folders of its own, and prefixes: a good library, one that fails, one that hangs."""
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    bodies = {
        "good": "echo noise; echo 'mpiexec (Open MPI) 5.0.11'",
        "[red]bad": "echo 'lib<b>.so: [bold]not found' >&2; exit 127",
    }
    for name, body in bodies.items():
        path = tmp_path / name / "bin/mpiexec"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    monkeypatch.setenv("NHALF_MPI_PREFIXES", ":".join(str(tmp_path / name) for name in bodies))
    return tmp_path


def nhalf(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nhalf", *words]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=patience_s(120)
    )


def test_list_as_json(machine: Path) -> None:
    done = nhalf("mpi", "list", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    ours = [one for one in answer["libraries"] if one["prefix"].startswith(str(machine))]
    assert [(one["name"], one["vendor"], one["abi"]) for one in ours] == [
        ("openmpi-5.0.11", "openmpi", False)
    ]
    assert answer["broken"][0]["reason"].endswith("exit code 127: lib<b>.so: [bold]not found")


def test_list_for_people(machine: Path) -> None:
    done = nhalf("mpi", "list")
    assert done.returncode == 0
    assert "openmpi-5.0.11" in done.stdout
    # Words in brackets are text, not colours.
    assert str(machine / "[red]bad/bin/mpiexec") in done.stdout
    assert "lib<b>.so: [bold]not found" in done.stdout


def test_a_prefix_option(machine: Path) -> None:
    done = nhalf("mpi", "list", "--json", "--mpi-prefix", str(machine / "nothing"))
    reasons = [one["reason"] for one in json.loads(done.stdout)["broken"]]
    assert "no executable bin/mpiexec there" in reasons


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["mpi", "install", "mpihc"], 2, "did you mean mpich"),
        (["mpi", "install"], 2, "NAME"),
        (["mpi", "lsit"], 2, "lsit"),
        (["mpi", "list", "--jsno"], 2, "--jsno"),
    ],
)
def test_wrong_usage(words: list[str], code: int, said: str, machine: Path) -> None:
    done = nhalf(*words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (machine / "XDG_DATA_HOME").exists()


def test_a_folder_that_cannot_be_written(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/proc")
    done = nhalf("mpi", "install", "mpich")
    assert done.returncode == 3
    assert done.stderr.startswith("nhalf: error: mpich-")
    assert len(done.stderr.splitlines()) == 1


def test_install_says_what_is_there(machine: Path) -> None:
    from nhalf.mpi.vendors import vendors

    version = vendors()["mpich"].wheel.version
    program = machine / f"XDG_DATA_HOME/nhalf/mpi/mpich-{version}/bin/mpiexec"
    program.parent.mkdir(parents=True)
    program.touch()
    done = nhalf("mpi", "install", "mpich", "--json")
    assert json.loads(done.stdout) == {
        "schema": "mpi-install/1",
        "installed": [
            {
                "name": f"mpich-{version}",
                "prefix": str(program.parent.parent),
                "fresh": False,
            }
        ],
    }
    assert "was there already" in nhalf("mpi", "install", "mpich").stdout
