"""Only what nobody else could have written counts as one's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.base.trusted import why_not_own
from tests.shared_place import AS_USER, STRANGER, TREE, needs_namespaces, needs_root


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
    code = "import sys; from nhalf.base.trusted import why_not_own as why; "
    code += "print(*map(why, sys.argv[1:]), sep='|')"
    words = [*AS_USER, sys.executable, "-c", code, image, planted]
    said = subprocess.run(words, check=True, capture_output=True, text=True, env=TREE).stdout
    assert said.startswith(f"|{planted} belongs to another user (uid 65534), and anybody")
