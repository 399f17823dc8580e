"""What a crash leaves at the end of a journal, and what damage is elsewhere."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nhalf.base.errors import InputError, MissingError
from nhalf.store import journal as journal_module
from nhalf.store.journal import Journal, events, events_named
from tests.patience import patience_s

LINES = [{"event": "point", "n": 1}, {"event": "launch", "µ": "½\n"}, {"event": "point", "n": 3}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "journal.jsonl"
    path.parent.mkdir()
    with Journal(path) as journal:
        for line in LINES:
            journal.append(line)
    return path


def append(path: Path, event: dict[str, object]) -> None:
    with Journal(path) as journal:
        journal.append(event)


def test_events_come_back_in_their_order(path: Path) -> None:
    assert list(events(path)) == LINES
    append(path, {"event": "end"})
    assert list(events(path)) == [*LINES, {"event": "end"}]
    assert path.read_bytes().count(b"\n") == 4


def test_events_of_one_name_are_typed(path: Path) -> None:
    assert list(events_named("point", path, dict[str, str | int])) == [LINES[0], LINES[2]]
    assert list(events_named("none", path, dict[str, int])) == []
    with pytest.raises(InputError, match="damaged at line 1"):
        list(events_named("point", path, dict[str, str]))


def test_no_journal_and_an_empty_one_hold_nothing(tmp_path: Path) -> None:
    assert list(events(tmp_path / "none")) == []
    (tmp_path / "empty").touch()
    assert list(events(tmp_path / "empty")) == []
    append(tmp_path / "empty", LINES[0])
    assert list(events(tmp_path / "empty")) == LINES[:1]


@pytest.mark.parametrize(
    "tail",
    [
        b'{"event":"point","n"',
        b"\0" * 5000,
        b"\xff\xfe",
        b"{" * 200_000,
        # Blocks may reach the disk out of order: the last line may be whole and yet be wrong.
        b'{"event":"poi\0\0\0\0\0\n',
        b"\0\0\0\n",
        b"[1]\n",
        b"{}\n",
        b'"\xff"\n',
        b"\n",
    ],
)
def test_a_damaged_end_is_passed_over_and_then_cut_away(path: Path, tail: bytes) -> None:
    sound = path.read_bytes()
    path.write_bytes(sound + tail)
    assert list(events(path)) == LINES
    append(path, {"event": "more"})
    assert path.read_bytes() == sound + b'{"event":"more"}\n'


@given(cut=some.integers(0, 200))
def test_cut_anywhere_the_whole_lines_are_left(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal.jsonl"
    for line in LINES:
        append(path, line)
    content = path.read_bytes()[:cut]
    path.write_bytes(content)
    whole = content.count(b"\n")
    assert list(events(path)) == LINES[:whole]
    append(path, {"event": "more"})
    assert list(events(path)) == [*LINES[:whole], {"event": "more"}]


@pytest.mark.parametrize("damage", [b"garbage\n", b"\n", b"[]\n", b'{"x":1}\n', b'{"event":3}\n'])
@pytest.mark.parametrize("line", [1, 2])
def test_damage_before_the_end_is_one_clear_line(path: Path, damage: bytes, line: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(line - 1, damage)
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError) as caught:
        list(events(path))
    assert f"{path} is damaged at line {line}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_any_line_is_emptied_only_when_written(path: Path) -> None:
    path.write_bytes(os.urandom(1000).replace(b"\n", b" "))
    assert list(events(path)) == []
    assert path.stat().st_size == 1000
    append(path, LINES[0])
    assert list(events(path)) == LINES[:1]


def test_only_one_may_write(path: Path) -> None:
    with Journal(path) as journal:
        with pytest.raises(InputError, match="another nhalf is measuring"):
            Journal(path)
        journal.append({"event": "end"})
    append(path, {"event": "next"})
    assert len(list(events(path))) == 5


def test_the_lock_ends_with_its_holder_and_not_with_its_children(path: Path) -> None:
    text = """
import os, pathlib, subprocess, sys
from nhalf.store import journal as journal_module
from nhalf.store.journal import Journal
journal = Journal(pathlib.Path(sys.argv[1]))
subprocess.Popen(["sleep", "5"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
os._exit(9)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", text, path], env=environment, check=False)
    assert done.returncode == 9
    append(path, {"event": "end"})


def test_the_last_line_before_a_long_silence_gets_to_the_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = threading.Semaphore(0)
    sync = os.fsync

    def counted(descriptor: int) -> None:
        sync(descriptor)
        synced.release()

    monkeypatch.setattr(journal_module, "SYNC_INTERVAL_S", 0.05)
    monkeypatch.setattr(os, "fsync", counted)
    with Journal(path) as journal:
        for _ in range(3):
            journal._synced_s = time.monotonic()
            journal.append({"event": "last"})
            assert synced.acquire(timeout=patience_s(10))
    before = threading.active_count()
    for _ in range(3):
        append(path, {"event": "more"})
    assert threading.active_count() <= before


def test_a_full_disk_is_one_clear_line_and_leaves_whole_lines(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def half(descriptor: int, content: bytes) -> int:
        if len(content) < 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content[: len(content) // 2])

    before = path.read_bytes()
    with Journal(path, "nhalf app --resume runs/cg") as journal:
        with monkeypatch.context() as patch:
            patch.setattr("nhalf.store.journal.os.write", half)
            with pytest.raises(MissingError) as caught:
                journal.append({"event": "point", "samples_s": [1.0] * 100})
        assert "No space left" in str(caught.value)
        assert "go on with: nhalf app --resume runs/cg" in str(caught.value)
        assert path.read_bytes() == before
        journal.append({"event": "end"})
    assert list(events(path)) == [*LINES, {"event": "end"}]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Journal(tmp_path / "none" / "journal.jsonl")


def test_an_interrupt_before_the_timer_begins_leaves_whole_lines(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: threading.Thread) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Timer, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        append(path, {"event": "point", "n": 4})
    assert len(list(events(path))) == len(LINES) + 1
