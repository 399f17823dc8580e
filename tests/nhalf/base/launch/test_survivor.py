"""A program that is killed leaves nothing of its launches, and nothing else is touched."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from nhalf.base.launch import survivor
from nhalf.base.launch.left_behind import FOLDER
from nhalf.base.launch.process_table import is_running
from nhalf.base.launch.survivor import LIFE_LINE, Launched, Survivor, not_ended, not_removed
from tests.patience import patience_s

PROGRAM = """
import os, signal, sys, time
from nhalf.base.launch.launch import Launch
from nhalf.base.launch.survivor import LIFE_LINE
# A shell starts what runs in the background without it.
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
word, segment = sys.argv[1:]
text = f"touch {segment}; trap '' TERM HUP INT; echo > {segment}; sleep 1000"
launch = Launch(["sh", "-c", text], os.environ, mark=f"{LIFE_LINE}={word}")
while not os.path.exists(segment) or not os.path.getsize(segment):
    time.sleep(0.01)
print(launch.process.pid, flush=True)
time.sleep(1000)
"""
"""The rank ignores what a launcher would send, in its own session."""
LIMIT_S = 10.0


def _until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + patience_s(LIMIT_S)
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


@pytest.fixture
def word() -> Iterator[str]:
    """The place of a launch's life lines."""
    word = secrets.token_hex(8)
    yield word
    _segment(word).unlink(missing_ok=True)


@pytest.fixture
def neighbour(word: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of another launch."""
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, LIFE_LINE: f"{word}0"}) as process:
        yield process
        process.kill()


def _segment(word: str) -> Path:
    return FOLDER / f"mpich_shm_{word}_0"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT], ids=lambda number: number.name)
def test_a_killed_program_leaves_nothing(
    number: signal.Signals, word: str, neighbour: subprocess.Popen[bytes]
) -> None:
    words = [sys.executable, "-c", PROGRAM, word, str(_segment(word))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as program:
        assert program.stdout is not None
        rank = int(program.stdout.readline())
        os.killpg(program.pid, number)
        # Who survives does not hold its output: a reader would wait for it.
        assert program.communicate(timeout=patience_s(LIMIT_S))[0] == b""
    _until(lambda: not is_running(rank))
    _until(lambda: not _segment(word).exists())
    assert neighbour.poll() is None


def test_a_launch_that_has_ended_is_left_alone() -> None:
    first, second = (Launched(pid, f"LINE={pid}", 1.5, ["a"]) for pid in (1, 2))
    told = [asdict(first), {"folder": "/a"}, asdict(second)]
    assert not_ended(told) == [first, second]
    assert not_ended([*told, {"ended": first.variable}]) == [second]
    assert not_ended([]) == []
    assert not_removed(told) == [Path("/a")]
    assert not_removed([*told, {"removed": "/a"}]) == []


def test_a_killed_program_leaves_no_temporary_folder(tmp_path: Path) -> None:
    program = (
        "import sys, tempfile, time; from nhalf.base.launch.survivor import Survivor\n"
        "with Survivor.own().holding(tempfile.TemporaryDirectory(dir=sys.argv[1])) as name:\n"
        "    open(f'{name}/timeline', 'w').close(); print(flush=True); time.sleep(1000)"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (folder,) = tmp_path.iterdir()
        assert (folder / "timeline").is_file()
        os.killpg(process.pid, signal.SIGKILL)
    _until(lambda: not folder.exists())


def test_every_temporary_folder_is_known_to_who_survives() -> None:
    """Folders stay where a process is killed; those of compilations are in the cache."""
    ours = Path(survivor.__file__).parents[2]
    makers = {
        path.relative_to(ours).as_posix()
        for path in ours.rglob("*.py")
        for line in path.read_text().splitlines()
        if "TemporaryDirectory(" in line and "holding(" not in line
    }
    assert makers == {"base/compiled.py", "experiment/improve/situation.py"}
    working_folder = (ours / "experiment/improve/situation.py").read_text()
    assert "holding(folder)" in working_folder


def test_a_program_that_may_start_no_other_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    lacking = Survivor()
    lacking.begin(Launched(1, "LINE=1", 0.0, []))
    lacking.close()
