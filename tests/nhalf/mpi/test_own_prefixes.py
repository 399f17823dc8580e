"""Installed libraries are run only if nobody else could have changed them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nhalf.mpi.discover import OwnPrefixes, own_prefixes
from tests.conftest import write_script
from tests.shared_place import STRANGER, needs_root


@pytest.fixture
def prefix(shared_place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library in a data folder that neighbours see."""
    monkeypatch.setenv("XDG_DATA_HOME", str(shared_place / "me"))
    folder = shared_place / "me/nhalf/mpi/one-1.0"
    write_script(folder / "bin/mpiexec", "true")
    (folder / "lib").mkdir()
    return folder


def test_ones_own_is_used(prefix: Path) -> None:
    assert own_prefixes() == OwnPrefixes([prefix], {})


def test_without_a_folder_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert own_prefixes() == OwnPrefixes()


@pytest.mark.parametrize("part", ["", "lib", "bin", "bin/mpiexec"])
def test_one_that_anybody_may_change_is_not(prefix: Path, part: str) -> None:
    (prefix / part).chmod(0o777)
    found = own_prefixes()
    assert found.prefixes == []
    assert found.not_run == {
        prefix / "bin/mpiexec": f"not run: anybody may write to {prefix / part}"
    }


@needs_root
@pytest.mark.parametrize("part", ["", "lib", "bin", "bin/mpiexec"])
def test_one_of_a_neighbour_is_not(prefix: Path, part: str) -> None:
    os.chown(prefix / part, STRANGER, STRANGER)
    assert own_prefixes().prefixes == []
    assert "belongs to another user" in own_prefixes().not_run[prefix / "bin/mpiexec"]


def test_of_a_folder_that_is_not_used_no_name_is_shown(prefix: Path) -> None:
    (prefix.parent.parent).chmod(0o777)
    found = own_prefixes()
    assert found.prefixes == []
    assert list(found.not_run) == [prefix.parent / "*/bin/mpiexec"]
