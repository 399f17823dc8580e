"""One launch: its time, its output, and that nothing of it is left.

The time that a program prints, found by a pattern.
"""

from __future__ import annotations

import math
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.launch import launch
from nhalf.base.launch.process_table import is_running
from nhalf.measure.launches import timed
from nhalf.measure.launches.timed import (
    TimedLaunch,
    counted_s,
    is_stdin_lost,
    printed_time,
    run_timed,
)
from nhalf.mpi.launch_settings import LaunchCommand, parse_launch
from tests.patience import patience_s


def shell(text: str) -> LaunchCommand:
    return parse_launch(["sh", "-c", text])


def test_time_output_and_exit_code(tmp_path: Path) -> None:
    done = run_timed(shell("echo out; echo err >&2"), tmp_path / "1", patience_s(10))
    assert (done.exit_code, done.problem, done.stdout.read_text()) == (0, "", "out\n")
    assert done.time_s > 0
    failed = run_timed(shell("echo because >&2; exit 7"), tmp_path / "2", patience_s(10))
    assert failed.problem == "exit code 7: because"
    killed = run_timed(shell("kill -9 $$"), tmp_path / "3", patience_s(10))
    assert killed.exit_code == 128 + signal.SIGKILL


def test_what_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot start"):
        run_timed(parse_launch(["/nowhere/mpiexec", "x"]), tmp_path / "1", 1.0)


def test_a_launch_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "process"
    done = run_timed(shell(f"sleep 600 & echo $! > {note}; sleep 600"), tmp_path / "1", 0.5)
    assert "no end within 0.5 s" in done.problem
    assert math.isnan(done.time_s)
    assert not is_running(int(note.read_text()))


def test_what_a_launcher_leaves_behind_may_end_by_itself(tmp_path: Path) -> None:
    """As an srun that tells its controller that its step is over; it has its own group."""
    note = tmp_path / "note"
    leaves = f"set -m; {{ sleep 0.2; echo over > {note}; }} & exit 0"
    done = run_timed(shell(leaves), tmp_path / "1", patience_s(10))
    assert (done.problem, note.read_text()) == ("", "over\n")


def test_what_does_not_end_by_itself_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "LEFTOVER_GRACE_S", 0.1)
    note = tmp_path / "process"
    done = run_timed(shell(f"set -m; sleep 600 & echo $! > {note}"), tmp_path / "1", patience_s(10))
    assert done.problem == ""
    assert not is_running(int(note.read_text()))


def test_the_reason_is_the_last_line_that_says_something(tmp_path: Path) -> None:
    done = run_timed(
        shell(r"printf 'no such transport\n-----\n\000\n'; exit 1"), tmp_path / "1", 9.0
    )
    assert done.problem == "exit code 1: no such transport"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Signals end this process as by default: what runs in the background may ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_launch_leaves_nothing(tmp_path: Path) -> None:
    note = tmp_path / "process"

    def interrupt() -> None:
        while not note.exists() or not note.read_text().strip():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_timed(shell(f"sleep 600 & echo $! > {note}; wait"), tmp_path / "1", patience_s(20))
    thread.join()
    # A killed process ends when it has a processor.
    end_s = time.monotonic() + patience_s(10)
    while is_running(int(note.read_text())):
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.mark.parametrize("text", ["", "a line\n", "no line break", '{"schema": 1}\n'])
def test_of_a_trial_the_time_is_that_of_the_virtual_machine(tmp_path: Path, text: str) -> None:
    trial = tmp_path / "nhalf"
    answer = '{"schema":1,"virtual_s":0.25,"real_s":3.0}'
    trial.write_text(f"#!{sys.executable}\nprint({text!r} + {answer!r})\n")
    trial.chmod(trial.stat().st_mode | stat.S_IXUSR)
    words = [str(trial), "try", "--ranks", "2", "--", "./program"]
    done = run_timed(parse_launch(words), tmp_path / "1", patience_s(10))
    assert (done.time_s, done.stdout.read_text()) == (0.25, text)


def test_a_trial_without_a_time_is_a_failure(tmp_path: Path) -> None:
    trial = tmp_path / "nhalf"
    trial.write_text("#!/bin/sh\necho nothing\n")
    trial.chmod(trial.stat().st_mode | stat.S_IXUSR)
    words = [str(trial), "try", "--", "./program"]
    with pytest.raises(FailedError, match="no time"):
        run_timed(parse_launch(words), tmp_path / "1", patience_s(10))


def test_every_launch_reads_the_same_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / "input"
    given.write_text("42\n")
    with given.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        for name in ("1", "2"):
            done = run_timed(shell("cat"), tmp_path / name, patience_s(10))
            assert done.stdout.read_text() == "42\n"


def test_a_full_disk_is_named_instead_of_what_failed_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed, "FREE_BYTES_LEAST", math.inf)
    with pytest.raises(MissingError, match=f"no space is left in {tmp_path}"):
        run_timed(shell("exit 3"), tmp_path / "1", patience_s(10))


def test_what_comes_once_on_standard_input_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "input").write_text("2")
    with (tmp_path / "input").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert not is_stdin_lost()
    reader, writer = os.pipe()
    os.close(writer)
    with os.fdopen(reader) as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert is_stdin_lost()
    assert not is_stdin_lost()


def launched(folder: Path, out: bytes, err: bytes = b"") -> TimedLaunch:
    (folder / "stdout").write_bytes(out)
    (folder / "stderr").write_bytes(err)
    return TimedLaunch(3.0, 0, folder)


@pytest.mark.parametrize(
    ("out", "err", "time_s"),
    [
        (b"time = 1.5\n", b"", 1.5),
        (b"time = 1.5\ntime = 2e-3 s\n", b"time = 9\n", 2e-3),
        (b"\xff\n", b"time = 4\n", 4.0),
    ],
)
def test_the_last_one_counts(tmp_path: Path, out: bytes, err: bytes, time_s: float) -> None:
    printed = printed_time("time = ([0-9.e-]+)")
    assert counted_s(launched(tmp_path, out, err), printed) == time_s
    assert counted_s(launched(tmp_path, out, err), None) == 3.0


@pytest.mark.parametrize("out", [b"", b"time: 3\n", b"time = ...\n"])
def test_without_a_number_there_is_none(tmp_path: Path, out: bytes) -> None:
    with pytest.raises(FailedError, match=r"no number in the output matches 'time = \("):
        counted_s(launched(tmp_path, out), printed_time("time = ([0-9.]+)"))


def test_a_group_that_is_left_out_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(FailedError):
        counted_s(launched(tmp_path, b"time\n"), printed_time("time( [0-9]+)?"))


def test_no_pattern_and_bad_ones() -> None:
    assert printed_time("") is None
    with pytest.raises(InputError, match="is no pattern"):
        printed_time("(")
    with pytest.raises(InputError, match="has no group for the number"):
        printed_time("time = 1")
