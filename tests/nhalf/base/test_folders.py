"""Where data and cache are, and that they are the user's own."""

from __future__ import annotations

import os
import pwd
import tempfile
from pathlib import Path

import pytest

from nhalf.base import folders
from nhalf.base.errors import MissingError
from nhalf.base.folders import cache_folder, data_folder, make_folder, write_cached
from tests.shared_place import STRANGER, needs_root


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and no other place."""
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def nowhere(home: Path, shared_place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An account without a home: its folder in a shared /tmp, which is not there yet."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(tempfile, "tempdir", str(shared_place))

    def unknown(user: int) -> pwd.struct_passwd:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    return shared_place / f"nhalf-{os.geteuid()}"


def test_below_the_home(home: Path) -> None:
    assert data_folder() == home / ".local/share/nhalf"
    assert cache_folder() == home / ".cache/nhalf"


def test_variables_come_first_if_absolute(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert data_folder() == home / "data/nhalf"
    assert cache_folder() == home / ".cache/nhalf"


def test_a_home_that_could_be_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "new"))
    assert cache_folder() == home / "new/.cache/nhalf"


@pytest.mark.parametrize("given", ["", "here", "/nonexistent/home"])
def test_what_is_no_home(given: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", given)
    assert cache_folder() == data_folder() == nowhere


def test_the_root_folder_is_the_home_of_nobody_but_root(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert cache_folder() == nowhere.with_name(f"nhalf-{STRANGER}")


@needs_root
def test_root_keeps_nothing_in_the_home_of_another_user(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = home / "theirs"
    theirs.mkdir()
    os.chown(theirs, STRANGER, STRANGER)
    monkeypatch.setenv("HOME", str(theirs))
    assert cache_folder() == Path(pwd.getpwuid(0).pw_dir, ".cache/nhalf")


def test_the_folder_in_a_shared_place_is_made_private(nowhere: Path) -> None:
    assert not nowhere.exists()
    made = make_folder(data_folder() / "mpi")
    assert made == nowhere / "mpi"
    assert nowhere.stat().st_mode & 0o7777 == 0o700
    assert data_folder() == nowhere


def test_others_may_read_what_root_put_into_an_image(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "opt"))
    mask = os.umask(0)
    try:
        made = make_folder(data_folder() / "mpi")
    finally:
        os.umask(mask)
    for folder in (made, made.parent, made.parent.parent):
        assert folder.stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_ones_own_folder_that_was_open_is_not_used(nowhere: Path, mode: int) -> None:
    nowhere.mkdir()
    nowhere.chmod(mode)
    for kind in (folders.DATA, folders.CACHE):
        with pytest.raises(MissingError, match=f"may write to it; set {kind.variable}"):
            kind.own()
        assert kind.place() == nowhere
    assert nowhere.stat().st_mode & 0o7777 == mode


@needs_root
def test_a_neighbours_folder_is_not_used(nowhere: Path) -> None:
    nowhere.mkdir(mode=0o700)
    os.chown(nowhere, STRANGER, STRANGER)
    with pytest.raises(MissingError) as refused:
        data_folder()
    assert refused.value.message.startswith(f"{nowhere} is not used: it belongs to another user")
    with pytest.raises(MissingError, match="belongs to another user"):
        make_folder(nowhere / "mpi")
    assert list(nowhere.iterdir()) == []


@needs_root
def test_a_neighbour_who_is_quicker_gains_nothing(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def lose(path: Path, mode: int) -> None:
        make(path, 0o777)
        os.chown(path, STRANGER, STRANGER)
        raise FileExistsError(path)

    monkeypatch.setattr(os, "mkdir", lose)
    with pytest.raises(MissingError, match="belongs to another user"):
        make_folder(nowhere / "mpi")
    assert list(nowhere.iterdir()) == []


def test_a_file_in_its_place_is_an_error_of_one_line(nowhere: Path) -> None:
    nowhere.touch(mode=0o600)
    with pytest.raises(MissingError, match=f"cannot make {nowhere}/tables: Not a directory"):
        write_cached(cache_folder() / "tables/one", "text")


def test_a_folder_that_vanished_is_made_again(nowhere: Path) -> None:
    path = write_cached(cache_folder() / "tables/one", "first")
    path.unlink()
    path.parent.rmdir()
    nowhere.rmdir()
    assert write_cached(path, "second").read_text() == "second"


def test_a_cache_that_is_a_link_to_scratch_is_used(home: Path, shared_place: Path) -> None:
    (home / ".cache").symlink_to(shared_place / "me")
    (shared_place / "me").mkdir(mode=0o755)
    write_cached(cache_folder() / "tables/one", "text")
    assert (shared_place / "me/nhalf/tables/one").read_text() == "text"


def test_the_home_of_a_group_of_ones_own_is_used(
    shared_place: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = shared_place / "me"
    (mine / ".cache/nhalf").mkdir(parents=True)
    for folder in (mine, mine / ".cache", mine / ".cache/nhalf"):
        folder.chmod(0o775)
    monkeypatch.setenv("HOME", str(mine))
    assert cache_folder() == mine / ".cache/nhalf"


def test_no_place_at_all(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(MissingError, match="set XDG_CACHE_HOME"):
        cache_folder()
