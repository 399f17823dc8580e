"""Probes that behave badly, each a shell script; no wait is endless, nothing is left behind."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.launch import launch
from nhalf.measure.probe import process as module
from nhalf.measure.probe import rank_watch
from nhalf.measure.probe.process import LaunchError, Probe
from tests.patience import patience_s

LAUNCH = '{"nhalf":"launch","ranks":2}'
ANSWER = """read line; echo '{"nhalf":"point","id":"0","samples_s":[1e-6]}'"""
Begin = Callable[..., Probe]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    """Starts a shell script as a probe."""

    def start(body: str, quiet_s: float = 20.0) -> Probe:
        path = tmp_path / "probe.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return Probe([str(path)], {"NHALF_TEST": "yes"}, patience_s(quiet_s))

    return start


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_launch_answers_and_ends(begin: Begin) -> None:
    with begin(f"echo '{LAUNCH}'; {ANSWER}; read word; test \"$word\" = end") as probe:
        assert probe.launch["ranks"] == 2
        probe.send("id=0")
        assert probe.receive(20, identity="0")["samples_s"] == [1e-6]
    assert probe._processes.process.returncode == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "noise",
    [
        "echo '*** welcome to the cluster ***'",
        "echo '{'; echo '[1]'; echo '{}'; echo null",
        "printf 'no line end, then '",
        "printf '\\377\\376\\000binary\\n'",
        "echo '{\"nhalf\":3}'",
        'echo \'{"nhalf":"later","id":"0"}\'',
        'echo \'{"nhalf":"launch",\'',
        "head -c 3000000 /dev/zero; echo",
        "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done",
    ],
)
def test_noise_before_the_records_does_no_harm(begin: Begin, noise: str) -> None:
    with begin(f"{noise}; echo '{LAUNCH}'; {noise}; {ANSWER}; {noise}") as probe:
        assert probe.launch["ranks"] == 2
        probe.send("id=0")
        assert probe.receive(20, "point", "0")["samples_s"] == [1e-6]


def test_noise_behind_a_record_in_its_line_does_no_harm(begin: Begin) -> None:
    with begin(f"echo 'x{LAUNCH} warning: {{'; {ANSWER}") as probe:
        assert probe.launch["ranks"] == 2
        probe.send("id=0")
        assert probe.receive(20)["id"] == "0"


def test_records_of_other_points_are_passed_over(begin: Begin) -> None:
    stale = """echo '{"nhalf":"point","id":"9"}'"""
    with begin(f"echo '{LAUNCH}'; {stale}; {ANSWER}") as probe:
        probe.send("id=0")
        assert probe.receive(20, identity="0")["id"] == "0"


def test_a_record_that_comes_in_pieces_is_whole(begin: Begin) -> None:
    half = len(LAUNCH) // 2
    pieces = f"printf '%s' '{LAUNCH[:half]}'; sleep 0.1; printf '%s\\n' '{LAUNCH[half:]}'"
    with begin(pieces) as probe:
        assert probe.launch["ranks"] == 2


def test_a_record_of_megabytes_is_read(begin: Begin) -> None:
    python = f"'{sys.executable}' -c \"print('[' + ','.join(['1e-6']*500000) + ']}}')\""
    with begin(f'echo \'{LAUNCH}\'; printf \'{{"nhalf":"point","samples_s":\'; {python}') as probe:
        assert len(probe.receive(20)["samples_s"]) == 500_000


def test_endless_errors_are_not_kept_and_their_end_is(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ERRORS_BYTES_MAX", 1 << 16)
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    stays = "head -c 40000000 /dev/zero >&2; echo 'Error: the end' >&2"
    with begin(f"echo '{LAUNCH}'; {stays}; read word; {ANSWER}") as probe:
        patience = time.monotonic() + patience_s(20)
        while not probe._last_words() and time.monotonic() < patience:
            with pytest.raises(LaunchError, match="no answer"):
                probe.receive(0.05)
        assert "Error: the end" in probe._last_words()
        probe.send("go")
        probe.send("id=0")
        assert probe.receive(20)["id"] == "0"
        status = os.fstat(probe._errors.fileno())
        assert status.st_size > 40_000_000
        assert status.st_blocks * 512 < 4 << 20


def test_a_line_without_end_is_not_kept(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_BYTES_MAX", 1 << 20)
    body = f"head -c 9000000 /dev/zero; echo; echo '{LAUNCH}'; cat /dev/zero"
    with pytest.raises(LaunchError, match=r"no answer within 0\.5 s"), begin(body) as probe:
        assert len(probe._partial) <= (1 << 20) + (1 << 20)
        probe.receive(0.5)
    assert len(probe._partial) <= 2 << 20


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("exit 0", "ended with exit code 0"),
        ("exit 7", "ended with exit code 7"),
        ("echo 'no slots' >&2; exit 1", "exit code 1: no slots"),
        ("echo ----; echo 'cannot open libmpi.so'; exit 127", "127: cannot open libmpi.so"),
        ("echo hello >&2; echo 'Error: bad' >&2; exit 1", "1: Error: bad"),
        ("kill -11 $$", "ended with signal 11"),
        ("sleep 1000", "no answer within"),
        ("trap '' TERM; exec sleep 1000", "no answer within"),
        ("yes", "no answer within .* s: y"),
        ("exec >&-; sleep 0.3; exit 3", "exit code 3"),
    ],
)
def test_a_launch_that_does_not_begin_is_a_reason(begin: Begin, body: str, reason: str) -> None:
    with pytest.raises(LaunchError, match=reason) as caught:
        begin(body, 0.5 if "no answer" in reason else 20.0)
    assert "\n" not in str(caught.value)


def test_a_program_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot be started: No such file"):
        Probe([str(tmp_path / "none")], {}, 1.0)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(LaunchError, match="cannot be started: Permission denied"):
        Probe([str(tmp_path / "text")], {}, 1.0)


def test_silence_after_the_beginning_is_a_reason(begin: Begin) -> None:
    silent = f"echo '{LAUNCH}'; exec sleep 1000"
    with pytest.raises(LaunchError, match=r"no answer within 0\.2 s"), begin(silent) as probe:
        probe.receive(0.2)
    assert probe._processes.process.returncode == -signal.SIGTERM


HOLDER = """
import os, socket, sys, time
line = socket.socket(socket.AF_UNIX)
line.connect("\\0" + os.environ["NHALF_LIFE_LINE"])
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("said", ["", f"echo '{LAUNCH}'; "])
def test_a_rank_that_ends_alone_is_a_reason_long_before_the_time_is_up(
    begin: Begin, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank_watch, "ENDS_ALONE_S", 0.2)
    monkeypatch.setattr(module, "LOOK_S", 0.05)
    holder = tmp_path / "holder.py"
    holder.write_text(HOLDER)
    ranks = f"'{sys.executable}' '{holder}' 1000 & '{sys.executable}' '{holder}' 0.1"
    reason = r"a rank \(process \d+\) ended before the "
    with (
        pytest.raises(LaunchError, match=reason + ("others" if said else "launch had answered")),
        begin(f"{said}{ranks}; wait", 1000.0) as probe,
    ):
        probe.receive(patience_s(100))


def test_an_early_end_is_a_reason_for_who_asks_and_who_waits(begin: Begin) -> None:
    with pytest.raises(LaunchError, match="exit code 4"), begin(f"echo '{LAUNCH}'; exit 4") as one:
        one.receive(20)
    with pytest.raises(LaunchError, match="exit code 4"), begin(f"echo '{LAUNCH}'; exit 4") as one:
        one._processes.wait(20)
        one.send("id=0")


def test_children_are_ended_with_their_launcher(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "LEFTOVER_GRACE_S", 0.1)
    with begin(f"sleep 1000 & echo '{LAUNCH}' | sed s/2/$!/; exit 0") as probe:
        child = probe.launch["ranks"]
        assert alive(child)
    deadline_s = time.monotonic() + patience_s(10)
    while alive(child) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert not alive(child)


@pytest.mark.parametrize(("end", "stays"), [("kill -9 $$", False), ("read word; exit 0", True)])
def test_shared_memory_of_a_killed_one_goes(begin: Begin, end: str, stays: bool) -> None:
    segment = Path(f"/dev/shm/mpich_shm_{secrets.token_hex(8)}_0")
    try:
        with begin(f"echo '{LAUNCH}'; touch {segment}; {end}") as probe:
            if not stays:
                with pytest.raises(LaunchError):
                    probe.receive(20)
        assert segment.exists() == stays
    finally:
        segment.unlink(missing_ok=True)


def test_one_that_does_not_end_is_killed(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "END_TIMEOUT_S", 0.2)
    with begin(f"trap '' TERM; echo '{LAUNCH}'; exec sleep 1000") as probe:
        pass
    assert probe._processes.process.returncode == -signal.SIGKILL
    probe.kill()


def test_it_ends_when_the_front_end_is_killed(tmp_path: Path) -> None:
    text = f"""
import os, signal
from nhalf.measure.probe.process import Probe
probe = Probe(["sh", "-c", {f"echo '{LAUNCH}'; exec sleep 1000"!r}], {{}}, 20)
print(probe._processes.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    folder = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": folder}
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=environment,
        capture_output=True,
        timeout=patience_s(60),
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    child = int(done.stdout)
    deadline_s = time.monotonic() + patience_s(10)
    while alive(child) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert not alive(child)


def test_variables_reach_the_probe(begin: Begin) -> None:
    with begin(f"echo '{LAUNCH}' | sed s/2/\\\"$NHALF_TEST\\\"/") as probe:
        assert probe.launch["ranks"] == "yes"
