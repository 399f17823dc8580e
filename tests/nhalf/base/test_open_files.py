"""A killed launcher leaves nothing that would fail a later one."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from nhalf.base import open_files
from nhalf.base.launch.launch import Launch, Streams
from nhalf.base.open_files import remove_session_folders, used_session_folders
from nhalf.base.processes import run
from tests.abandoned_sessions import abandoned_sessions

ENDED = (1 << 22) + 1
"""A number that no process has."""
LAUNCHER = 'trap "" TERM; mkdir -p $0/ompi.$$/1; echo $$; exec 1>&-; sleep 60'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_launcher_goes(folder: Path) -> None:
    command = ["/bin/sh", "-c", LAUNCHER, str(folder)]
    with Launch(command, os.environ, streams=Streams(stdout=subprocess.PIPE)) as launch:
        assert launch.process.stdout is not None
        launch.process.stdout.read()
        assert os.listdir(folder) == [f"ompi.{launch.process.pid}"]
        assert abandoned_sessions() == []
    assert os.listdir(folder) == []


def test_so_does_that_of_a_launcher_below_a_script(folder: Path) -> None:
    below = f"/bin/sh -c '{LAUNCHER}' {folder} & wait"
    run(["/bin/sh", "-c", f"trap '' TERM; {below}"], 0.5)
    assert os.listdir(folder) == []


def test_where_processes_may_be_hidden_only_what_was_in_use_goes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container and its host may have /tmp in common, and processes of one number."""
    monkeypatch.setattr(open_files, "is_first_namespace", lambda: False)
    names = [f"ompi.{os.getpid()}", f"ompi.{ENDED}"]
    for name in names:
        (folder / name).mkdir()
    with (folder / names[0] / "hwloc.sm").open("wb"):
        used = used_session_folders([os.getpid(), ENDED])
        remove_session_folders([os.getpid(), ENDED], used)
        assert sorted(os.listdir(folder)) == sorted(names)
    remove_session_folders([os.getpid(), ENDED], used)
    assert os.listdir(folder) == names[1:]


def test_what_a_process_elsewhere_uses_stays(folder: Path) -> None:
    (folder / f"ompi.{ENDED}").mkdir()
    with (folder / f"ompi.{ENDED}" / "hwloc.sm").open("wb"):
        remove_session_folders([ENDED])
    assert os.listdir(folder) == [f"ompi.{ENDED}"]
    remove_session_folders([ENDED])
    assert os.listdir(folder) == []


def test_the_folder_of_another_host_stays(folder: Path) -> None:
    for name in (f"pmix.{socket.gethostname()}.tool", "pmix.another-host.tool"):
        (folder / f"ompi.{ENDED}").mkdir(exist_ok=True)
        (folder / f"ompi.{ENDED}" / name).touch()
    remove_session_folders([ENDED])
    assert os.listdir(folder) == [f"ompi.{ENDED}"]


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
    remove_session_folders([1])
