"""Whole files or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.base.files import replacing, write_bytes, write_text


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "file.txt"
    assert write_text(path, "old") == path
    write_text(path, "µs")
    assert path.read_text("utf-8") == "µs"
    assert list(path.parent.iterdir()) == [path]


def test_the_old_file_stays_where_writing_fails(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "file", b"old")

    def half(part: Path) -> None:
        part.write_bytes(b"ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replacing(path) as part:
        half(part)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_nobody_sees_the_new_content_before_it_is_whole(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "file", b"old")
    with replacing(path) as part:
        part.write_bytes(b"new")
        assert path.read_bytes() == b"old"
        assert part.parent == path.parent, "a file is renamed within one file system only"
    assert path.read_bytes() == b"new"


def test_a_place_that_cannot_be_written_is_told_with_what_helps(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MissingError, match=r"cannot write .*: .*choose another place with --junit"):
        write_bytes(tmp_path / "file" / "below.xml", b"", "choose another place with --junit")


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(MissingError, match="it is no regular file"):
        write_text(pipe, "text")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
