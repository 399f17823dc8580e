# SPDX-License-Identifier: Apache-2.0
"""A killed launcher leaves nothing that would fail a later one."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from nhalf.base.processes import run, stop_group
from nhalf.base.session_folders import abandoned_sessions, remove_session_folders

LAUNCHER = 'trap "" TERM; mkdir -p $0/ompi.$$/1; echo $$; exec 1>&-; sleep 60'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_launcher_goes(folder: Path) -> None:
    command = ["/bin/sh", "-c", LAUNCHER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.read()
        assert os.listdir(folder) == [f"ompi.{process.pid}"]
        assert abandoned_sessions() == []
        stop_group(process)
    assert os.listdir(folder) == []


def test_so_does_that_of_a_launcher_below_a_script(folder: Path) -> None:
    below = f"/bin/sh -c '{LAUNCHER}' {folder} & wait"
    run(["/bin/sh", "-c", f"trap '' TERM; {below}"], 0.5)
    assert os.listdir(folder) == []


def test_folders_of_others_stay(folder: Path) -> None:
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    kept = folder / "kept"
    kept.mkdir()
    for name in (f"ompi.{os.getpid()}", "ompi.x", "ompi.1.2", "ompi"):
        (folder / name).mkdir()
    (folder / f"ompi.{ended.pid}").symlink_to(kept)
    assert abandoned_sessions() == [ended.pid]
    remove_session_folders([ended.pid])
    assert kept.is_dir() and len(os.listdir(folder)) == 6


def test_no_folder_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "none"))
    assert abandoned_sessions() == []
    remove_session_folders([1])
