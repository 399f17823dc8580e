"""Where data and cache are, and that they are the user's own.

Only what nobody else could have written counts as one's own.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nhalf.base import folders
from nhalf.base.errors import MissingError
from nhalf.base.folders import cache_folder, data_folder, make_folder, why_not_own, write_cached
from tests.shared_place import AS_USER, STRANGER, TREE, needs_namespaces, needs_root


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


def test_a_folder_of_ones_own_is_own(shared_place: Path) -> None:
    folder = shared_place / "mine"
    folder.mkdir(mode=0o700)
    assert why_not_own(folder) == ""
    assert why_not_own(folder / "missing/below") == ""


def test_what_is_missing_is_own(shared_place: Path) -> None:
    assert why_not_own(shared_place / "missing/below") == ""


@needs_root
def test_what_others_planted_is_not(shared_place: Path) -> None:
    folder = shared_place / "planted"
    (folder / "below").mkdir(parents=True)
    os.chown(folder, STRANGER, STRANGER)
    for path in (folder, folder / "below", folder / "missing"):
        assert why_not_own(path) == (
            f"{folder} belongs to another user (uid {STRANGER}), "
            f"and anybody may make files in {shared_place}"
        )


@needs_root
def test_a_planted_link_to_ones_own_folder_is_not_followed(shared_place: Path) -> None:
    (shared_place / "mine").mkdir(mode=0o700)
    link = shared_place / "link"
    link.symlink_to("mine")
    assert why_not_own(link) == ""
    os.lchown(link, STRANGER, STRANGER)
    assert f"{link} belongs to another user" in why_not_own(link / "below")


@needs_root
def test_a_folder_of_others_is_not_own_anywhere(shared_place: Path) -> None:
    folder = shared_place / "mine/theirs"
    folder.mkdir(parents=True)
    os.chown(folder, STRANGER, STRANGER)
    assert why_not_own(folder) == f"{folder} belongs to another user (uid {STRANGER})"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_anybody_may_write_to_is_not(shared_place: Path, mode: int) -> None:
    folder = shared_place / "mine"
    folder.mkdir()
    folder.chmod(mode)
    assert why_not_own(folder) == f"anybody may write to {folder}"


def test_below_a_folder_without_the_sticky_bit_anybody_may_replace_it(shared_place: Path) -> None:
    shared_place.chmod(0o777)
    (shared_place / "mine").mkdir(mode=0o700)
    for name in ("mine", "missing"):
        reason = why_not_own(shared_place / name)
        assert reason == f"anybody may replace what is in {shared_place}"


def test_a_group_may_write_in_a_home_but_not_in_a_shared_place(shared_place: Path) -> None:
    home = shared_place / "home"
    (home / "cache").mkdir(parents=True)
    for folder in (home, home / "cache"):
        folder.chmod(0o775)
    assert why_not_own(home / "cache") == ""
    assert why_not_own(home) == f"its group may write to {home}"


def test_nobody_gets_into_a_private_folder(shared_place: Path) -> None:
    home = shared_place / "home"
    (home / "cache").mkdir(parents=True)
    (home / "cache").chmod(0o777)
    home.chmod(0o700)
    assert why_not_own(home / "cache") == ""
    home.chmod(0o711)
    assert why_not_own(home / "cache") == f"anybody may write to {home / 'cache'}"


def test_a_link_out_of_a_private_folder_leads_where_others_may_write(shared_place: Path) -> None:
    (shared_place / "open").mkdir()
    (shared_place / "open").chmod(0o777)
    home = shared_place / "home"
    home.mkdir(mode=0o700)
    (home / "cache").symlink_to("../open/cache")
    (shared_place / "open/cache").mkdir()
    reason = why_not_own(home / "cache")
    assert reason == f"anybody may replace what is in {shared_place / 'open'}"


def test_a_link_to_scratch_is_followed(shared_place: Path) -> None:
    scratch = shared_place / "scratch"
    (scratch / "me").mkdir(parents=True)
    scratch.chmod(0o1777)
    home = shared_place / "home"
    home.mkdir(mode=0o700)
    (home / ".cache").symlink_to(scratch / "me")
    assert why_not_own(home / ".cache/nhalf") == ""


def test_links_without_end_are_no_way_in(shared_place: Path) -> None:
    (shared_place / "one").symlink_to("two")
    (shared_place / "two").symlink_to("one")
    assert why_not_own(shared_place / "one") == ""


def test_a_file_that_anybody_may_write_is_not_own(shared_place: Path) -> None:
    file = shared_place / "program"
    file.touch()
    file.chmod(0o666)
    assert why_not_own(file) == f"anybody may write to {file}"


@needs_root
def test_who_has_no_name_is_a_stranger_where_root_has_one(shared_place: Path) -> None:
    folder = shared_place / "mine/theirs"
    folder.mkdir(parents=True)
    os.chown(folder, 65534, 65534)
    assert why_not_own(folder) == f"{folder} belongs to another user (uid 65534)"


@needs_root
@needs_namespaces
def test_where_root_has_no_name_only_shared_places_tell(shared_place: Path) -> None:
    image, planted = shared_place / "image/opt", shared_place / "planted"
    for folder in (image, planted):
        folder.mkdir(parents=True)
        os.chown(folder, STRANGER, STRANGER)
    code = "import sys; from nhalf.base.folders import why_not_own as why; "
    code += "print(*map(why, sys.argv[1:]), sep='|')"
    words = [*AS_USER, sys.executable, "-c", code, image, planted]
    said = subprocess.run(words, check=True, capture_output=True, text=True, env=TREE).stdout
    assert said.startswith(f"|{planted} belongs to another user (uid 65534), and anybody")
