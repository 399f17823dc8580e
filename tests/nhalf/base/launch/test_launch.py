"""Programs that end, hang, die or leave something behind: no wait is endless, nothing is left."""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import Terminated
from nhalf.base.launch import launch as module
from nhalf.base.launch import survivor
from nhalf.base.launch.launch import Launch, Streams, unheard_mark
from nhalf.base.launch.left_behind import FOLDER
from nhalf.base.launch.process_table import is_running
from tests.patience import patience_s

LIMIT_S = 20.0
STAYS = "trap '' TERM HUP INT; while :; do sleep 0.02; done"
"""Ends by SIGKILL only."""
Shell = Callable[..., Launch]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.2)
    monkeypatch.setattr(module, "LEFTOVER_GRACE_S", 0.2)
    monkeypatch.setattr(survivor, "GRACE_S", 0.2)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Starts a shell; numbers of processes that it notes as lines of $NOTE are gone in the end."""
    note = tmp_path / "note"
    launches: list[Launch] = []

    def start(text: str, **options: Any) -> Launch:
        variables = {**os.environ, "NOTE": str(note)}
        launch = Launch(["/bin/sh", "-c", text], variables, **options)
        launches.append(launch)
        return launch

    yield start
    for one in launches:
        one.end()
    assert [word for word in noted(note) if is_running(word)] == []


def noted(note: Path, lines: int = 0) -> list[int]:
    """The numbers in a file, once it has this many lines."""
    deadline_s = time.monotonic() + patience_s(LIMIT_S)
    while not note.exists() or len(note.read_text().splitlines()) < lines:
        if not lines:
            return []
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
    return [int(word) for word in note.read_text().split()]


@pytest.mark.parametrize(
    ("text", "code", "exit_code"),
    [("exit 0", 0, 0), ("exit 7", 7, 7), ("kill -9 $$", -9, 137), ("kill -TERM $$", -15, 143)],
)
def test_its_end_is_told(shell: Shell, text: str, code: int, exit_code: int) -> None:
    with shell(text) as launch:
        assert launch.wait(patience_s(LIMIT_S)) == code
        assert launch.exit_code == exit_code
        assert bool(launch.killed_by) == (code < 0)
    assert launch.exit_code == exit_code


def test_who_killed_it_is_named(shell: Shell) -> None:
    with shell("kill -9 $$") as launch:
        launch.wait()
        number = launch.process.pid
        words = f"the launcher (process {number}) was ended by signal 9 (SIGKILL)"
        assert launch.killed_by == words


def test_one_that_does_not_end_is_ended_with_its_children(shell: Shell, tmp_path: Path) -> None:
    with shell("sleep 600 & echo $! $$ >> $NOTE; wait") as launch:
        children = noted(tmp_path / "note", 1)
        assert launch.wait(0.01) is None
        assert launch.exit_code == 128 + signal.SIGTERM
    assert launch.process.returncode == -signal.SIGTERM
    assert not any(map(is_running, children))
    launch.end()


def test_one_that_ignores_sigterm_is_killed(shell: Shell, tmp_path: Path) -> None:
    with shell(f"echo $$ >> $NOTE; {STAYS}") as launch:
        noted(tmp_path / "note", 1)
    assert launch.process.returncode == -signal.SIGKILL


def test_one_that_is_not_polite_is_killed_at_once(shell: Shell, tmp_path: Path) -> None:
    with shell("trap 'exit 3' TERM; echo $$ >> $NOTE; sleep 600", is_polite=False) as launch:
        noted(tmp_path / "note", 1)
    assert launch.process.returncode == -signal.SIGKILL


def test_what_a_shell_leaves_may_end_by_itself(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an srun that tells its controller that its step is over; it has its own group."""
    monkeypatch.setattr(module, "LEFTOVER_GRACE_S", patience_s(LIMIT_S))
    late = tmp_path / "late"
    with shell(f"set -m; {{ sleep 0.2; echo over > {late}; }} & exit 0") as launch:
        launch.wait()
    assert late.read_text() == "over\n"


@pytest.mark.parametrize("begin", ["", "set -m;"], ids=["its group", "another group"])
def test_what_a_shell_leaves_is_killed(shell: Shell, begin: str) -> None:
    with shell(f"{begin} ({STAYS}) & echo $! >> $NOTE; exit 0") as launch:
        assert launch.wait() == 0


def test_one_that_closes_its_streams_and_lives_on_is_waited_for(shell: Shell) -> None:
    pipes = Streams(subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
    with shell("exec >&- 2>&-; read word; exit 3", streams=pipes) as launch:
        assert launch.process.stdout is not None and launch.process.stdin is not None
        assert launch.process.stdout.read() == b""
        assert launch.wait(0.01) is None
        launch.process.stdin.close()
        assert launch.wait(patience_s(LIMIT_S)) == 3


def test_one_that_floods_its_streams_is_ended(shell: Shell) -> None:
    """Nobody reads the pipes, which hold 64 KiB."""
    flood = "head -c 10000000 /dev/zero"
    pipes = Streams(subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
    with shell(f"{flood} & {flood} >&2; echo $! >> $NOTE", streams=pipes) as launch:
        assert launch.wait(0.05) is None
    assert launch.process.returncode == -signal.SIGTERM


def test_a_selector_wakes_at_the_end(shell: Shell) -> None:
    with (
        shell("read word", streams=Streams(subprocess.PIPE)) as launch,
        selectors.SelectSelector() as waits,
    ):
        launch.report_end(waits)
        assert waits.select(0) == []
        assert launch.process.stdin is not None
        launch.process.stdin.close()
        assert len(waits.select(patience_s(LIMIT_S))) == 1


@pytest.mark.parametrize("end", ["exit 3", "kill -9 $$", "sleep 600"])
def test_what_left_its_session_is_found_by_its_mark(shell: Shell, end: str, tmp_path: Path) -> None:
    leaves = "setsid sh -c 'echo $$ >> $NOTE; exec sleep 600' &"
    waits = "until test -s $NOTE; do sleep 0.01; done;"
    with shell(f"{leaves} {waits} {end}", mark=unheard_mark()) as launch:
        noted(tmp_path / "note", 1)
        launch.wait(0.1 if "sleep" in end else patience_s(LIMIT_S))


def test_what_a_whole_one_left_in_another_session_stays(shell: Shell, tmp_path: Path) -> None:
    """As a connection of ssh that further ones are to share."""
    note = tmp_path / "daemon"
    leaves = f"setsid sh -c 'echo $$ > {note}; exec sleep 600' & until test -s {note}; do :; done"
    with shell(leaves, mark=unheard_mark()) as launch:
        assert launch.wait() == 0
    (daemon,) = noted(note, 1)
    assert is_running(daemon)
    os.kill(daemon, signal.SIGKILL)


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("end", ["exit 0", "exit 1"])
def test_shared_memory_stays_if_all_is_well(shell: Shell, is_whole: bool, end: str) -> None:
    segment = FOLDER / f"mpich_shm_{secrets.token_hex(8)}_0"
    with shell(f"touch {segment}; {end}", mark=unheard_mark()) as launch:
        launch.is_whole = is_whole
        launch.wait()
    is_left = segment.exists()
    segment.unlink(missing_ok=True)
    assert is_left == (is_whole and end == "exit 0")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Signals end this process as by default: what runs in the background may ignore them."""

    def terminate(number: int, _frame: object) -> None:
        raise Terminated(signal.Signals(number).name)

    before = [signal.signal(signal.SIGINT, signal.default_int_handler)]
    before.append(signal.signal(signal.SIGTERM, terminate))
    yield
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGTERM, before[1])


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_one_leaves_nothing(
    shell: Shell, tmp_path: Path, number: signal.Signals, times: int
) -> None:
    """The second time comes while the launch is ended, which it does not disturb."""
    again = f"trap 'kill -{number} {os.getpid()}' TERM; " if times == 2 else ""
    text = f"{again}set -m; ({STAYS}) & echo $! $$ >> $NOTE; while :; do sleep 0.02; done"

    def interrupt() -> None:
        noted(tmp_path / "note", 1)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), shell(text, mark=unheard_mark()) as launch:
        launch.wait(patience_s(LIMIT_S))
    thread.join()
    assert not any(map(is_running, noted(tmp_path / "note", 1)))


def test_what_keeps_the_terminal_is_in_the_session_of_this_program(
    shell: Shell, tmp_path: Path
) -> None:
    with shell("echo $$ >> $NOTE; sleep 600", keeps_terminal=True, mark=unheard_mark()) as launch:
        noted(tmp_path / "note", 1)
        assert os.getpgid(launch.process.pid) == os.getpgid(0)
    assert launch.process.returncode == -signal.SIGTERM


def test_one_that_cannot_be_started_leaves_no_file_open() -> None:
    before, pipe = len(os.listdir("/proc/self/fd")), Streams(stdout=subprocess.PIPE)
    for path in ("/nowhere", "/"):
        with pytest.raises(OSError, match=r"No such file|Permission"):
            Launch([path], os.environ, streams=pipe)
    with Launch([sys.executable, "-c", ""], os.environ, streams=pipe) as launch:
        launch.wait()
    assert len(os.listdir("/proc/self/fd")) == before
