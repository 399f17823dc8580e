from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.sites.lab import layout
from nhalf.sites.lab.layout import Lab


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(layout, "ROOT", tmp_path / "labs")
    return tmp_path / "labs"


@pytest.mark.parametrize("name", ["", "../x", "A", "1a", "a" * 21, "a b", "a/b", "."])
def test_names_that_are_no_folder_of_a_lab_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        layout.load(name)


def test_no_lab_at_all_says_how_to_start_one() -> None:
    with pytest.raises(InputError, match="nhalf lab up"):
        layout.load("some")


def test_a_lab_comes_back_as_it_was_saved(root: Path) -> None:
    lab = Lab("some", 2, "ring", 8, 125e6, {"n1": 25e6})
    lab.folder.mkdir(parents=True)
    lab.save()
    assert layout.load("some") == lab
    with pytest.raises(InputError, match="did you mean some"):
        layout.load("soma")


@pytest.mark.parametrize("text", [None, "", "{", "{}", '{"name": 3}'])
def test_a_lab_that_was_not_finished_is_named(root: Path, text: str | None) -> None:
    (root / "some").mkdir(parents=True)
    if text is not None:
        (root / "some" / "lab.json").write_text(text)
    with pytest.raises(InputError, match="nhalf lab down --name some"):
        layout.load("some")


def test_the_folder_of_all_labs_is_there_while_locked_and_gone_after_the_last(root: Path) -> None:
    with layout.locked():
        (root / "some").mkdir()
    assert root.exists()
    with layout.locked():
        (root / "some").rmdir()
    assert not root.exists()


def test_a_lock_that_is_held_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "LOCK_TIMEOUT_S", 0.2)
    with layout.locked(), pytest.raises(Exception, match="wait or end it"), layout.locked():
        pass
