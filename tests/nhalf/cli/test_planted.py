"""nhalf as a user without a home calls it, where a neighbour took its place in /tmp before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base import native_files
from tests.conftest import write_script
from tests.patience import patience_s
from tests.shared_place import AS_USER, STRANGER, TREE, USER, needs_namespaces, needs_root

Nhalf = Callable[..., subprocess.CompletedProcess[str]]


pytestmark = [needs_root, needs_namespaces]


@pytest.fixture
def nhalf(shared_place: Path, tmp_path: Path) -> Nhalf:
    """Calls nhalf as another user, who has no home; its library has a compiler that is quick."""
    write_script(tmp_path / "own/bin/mpiexec", "echo 'mpiexec (Open MPI) 4.1.0'")
    made = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made >"$2"; shift; done; exit 0'
    write_script(tmp_path / "own/bin/mpicxx", made)
    variables = {
        **TREE,
        "TMPDIR": str(shared_place),
        "NHALF_NATIVE_DIR": str(native_files.native_folder()),
        "NHALF_MPI_PREFIXES": str(tmp_path / "own"),
    }

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*AS_USER, sys.executable, "-m", "nhalf", *words],
            env=variables,
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
            timeout=patience_s(240),
        )

    return call


@pytest.fixture
def marker(shared_place: Path) -> Path:
    """Here is written what ran that should not have; anybody can."""
    path = shared_place / "marker"
    path.touch()
    path.chmod(0o666)
    return path


def plant(shared_place: Path, marker: Path) -> Path:
    """The folder of the user without a home, made by a neighbour, with a library inside."""
    folder = shared_place / f"nhalf-{USER}"
    body = f"id -u >>{marker}; echo 'mpiexec (Open MPI) 5.0.0'"
    write_script(folder / "mpi/openmpi-5.0.0/bin/mpiexec", body)
    give_away(folder)
    return folder


def give_away(folder: Path) -> None:
    """Make a folder, and all that is below, a neighbour's."""
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, STRANGER, STRANGER)


def test_what_a_neighbour_planted_is_not_run(
    nhalf: Nhalf, shared_place: Path, marker: Path
) -> None:
    folder = plant(shared_place, marker)
    done = nhalf("mpi", "list", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert not [one for one in answer["libraries"] if str(folder) in one["prefix"]]
    reasons = {one["mpiexec"]: one["reason"] for one in answer["broken"]}
    assert "belongs to another user" in reasons[f"{folder}/mpi/*/bin/mpiexec"]
    assert marker.read_text() == ""


def test_doctor_says_that_it_is_not_used(nhalf: Nhalf, shared_place: Path, marker: Path) -> None:
    folder = plant(shared_place, marker)
    done = nhalf("doctor", "--json")
    assert "Traceback" not in done.stderr
    findings = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
    for name, variable in (("libraries", "XDG_DATA_HOME"), ("cache", "XDG_CACHE_HOME")):
        assert f"{folder} is not used: it belongs to another user" in findings[name]["found"]
        assert variable in findings[name]["remedy"]
    assert marker.read_text() == ""


def test_a_run_of_the_model_works_without_any_folder(
    nhalf: Nhalf, shared_place: Path, marker: Path, tmp_path: Path
) -> None:
    plant(shared_place, marker)
    words = ("--transport", "model", "--bytes", "8", "--out", str(tmp_path / "run"))
    done = nhalf("run", *words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run/run.json").is_file()
    assert marker.read_text() == ""


def test_a_planted_library_is_not_preloaded(nhalf: Nhalf, shared_place: Path, marker: Path) -> None:
    folder = shared_place / f"nhalf-{USER}"
    before = nhalf("mpi", "preload", "openmpi-4.1.0")
    assert before.returncode == 0, before.stderr
    assert str(folder) in before.stdout
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    give_away(folder)
    done = nhalf("mpi", "preload", "openmpi-4.1.0")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"nhalf: error: {folder} is not used: it belongs to another user")
    assert "XDG_CACHE_HOME" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_nothing_is_installed_in_a_neighbours_folder(
    nhalf: Nhalf, shared_place: Path, marker: Path
) -> None:
    folder = plant(shared_place, marker)
    before = sorted(folder.rglob("*"))
    done = nhalf("mpi", "install", "mpich")
    assert done.returncode == 3
    assert "XDG_DATA_HOME" in done.stderr
    assert sorted(folder.rglob("*")) == before


def test_a_planted_link_is_not_followed(nhalf: Nhalf, shared_place: Path, marker: Path) -> None:
    elsewhere = plant(shared_place, marker).rename(shared_place / "elsewhere")
    link = shared_place / f"nhalf-{USER}"
    link.symlink_to(elsewhere)
    os.lchown(link, STRANGER, STRANGER)
    assert nhalf("mpi", "list").returncode == 0
    assert marker.read_text() == ""
