from __future__ import annotations

import os
import re
import selectors
import time
from pathlib import Path

import pytest

from nhalf.base.launch import launch
from nhalf.base.processes import (
    OUTPUT_BYTES_MAX,
    ProgramOutcome,
    has_no_reader,
    run,
)
from tests.patience import patience_s


def shell(text: str, quiet_s: float = 20.0) -> ProgramOutcome:
    return run(["/bin/sh", "-c", text], patience_s(quiet_s))


def alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(process_id: int) -> bool:
    deadline_s = time.monotonic() + patience_s(2.0)
    while alive(process_id) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return not alive(process_id)


def test_both_outputs_and_the_code_come_back() -> None:
    outcome = shell("echo out; echo err >&2; exit 7")
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (7, "out\n", "err\n")
    assert not outcome.succeeded
    assert outcome.reason == "exit code 7: err"


def test_input_and_variables_arrive() -> None:
    outcome = run(["/bin/sh", "-c", 'cat; echo "$ONE"'], 20.0, {"ONE": "1"}, "hello\n")
    assert outcome.stdout == "hello\n1\n"
    assert outcome.succeeded


def test_a_program_that_reads_no_input_is_no_error() -> None:
    assert run(["/bin/true"], 20.0, text="x\n").succeeded


def test_a_program_that_does_not_read_a_long_input_is_ended_in_time() -> None:
    outcome = run(["/bin/sleep", "1000"], 0.3, text="x" * 1_000_000)
    assert outcome.reason == "no end within 0.3 s"
    assert run(["/usr/bin/wc", "-c"], 20.0, text="x" * 1_000_000).stdout == "1000000\n"


@pytest.mark.parametrize("path", ["/nonexistent/mpiexec", "/", "/etc/passwd"])
def test_what_cannot_be_started_has_a_reason(path: str) -> None:
    outcome = run([path], 20.0)
    assert outcome.exit_code is None
    assert outcome.reason.startswith("cannot be started")


def test_a_script_without_interpreter_has_a_reason(tmp_path: Path) -> None:
    program = tmp_path / "mpiexec"
    program.write_text("")
    program.chmod(0o755)
    assert run([str(program)], 20.0).reason.startswith("cannot be started")


def test_a_hanging_program_is_ended_with_its_children(tmp_path: Path) -> None:
    noted = tmp_path / "pids"
    outcome = shell(f"sleep 1000 & echo $! $$ > {noted}; echo begun; wait", 0.3)
    assert outcome.exit_code is None
    assert re.fullmatch(r"no end within [\d.]+ s: begun", outcome.reason)
    assert all(gone(int(one)) for one in noted.read_text().split())


def test_one_that_ignores_the_polite_signal_is_ended(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    loop = f"trap '' TERM; echo $$ > {noted}; while :; do sleep 0.05; done"
    assert shell(loop, 0.3).exit_code is None
    assert gone(int(noted.read_text()))


def test_a_child_that_keeps_the_output_open_does_not_hold_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "LEFTOVER_GRACE_S", 0.1)
    noted = tmp_path / "pid"
    outcome = shell(f"sleep 1000 & echo $! > {noted}; echo done")
    assert (outcome.exit_code, outcome.stdout) == (0, "done\n")
    assert gone(int(noted.read_text()))


@pytest.mark.parametrize("stream", ["1", "2"])
def test_endless_noise_is_cut(stream: str) -> None:
    outcome = shell(f"yes >&{stream}")
    assert outcome.reason.startswith("says more than a megabyte")
    assert OUTPUT_BYTES_MAX < len(outcome.stdout + outcome.stderr) < 2 * OUTPUT_BYTES_MAX


def test_bytes_that_are_no_text_are_survived() -> None:
    assert "\ufffd" in shell(r"printf '\377\376\000'").stdout


def test_closed_outputs_of_a_running_program_do_not_end_the_wait() -> None:
    assert shell("exec >&- 2>&-; sleep 0.3; exit 3").exit_code == 3


def test_death_by_signal_is_named() -> None:
    assert shell("kill -9 $$").reason == "died of signal 9"


def test_what_is_written_just_before_the_end_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    select = selectors.DefaultSelector.select
    early_s = [0.3]

    def late(self: selectors.DefaultSelector, timeout: float | None = None) -> object:
        # Nothing came in time; then it writes and ends before anybody asks whether it runs.
        if early_s:
            time.sleep(early_s.pop())
            return []
        return select(self, timeout)

    monkeypatch.setattr(selectors.DefaultSelector, "select", late)
    assert shell("sleep 0.1; echo last words").stdout == "last words\n"


def test_a_ruler_is_not_the_reason() -> None:
    assert shell("echo ------ >&2; echo; echo no slots >&2; exit 1").reason.endswith(": no slots")


def test_no_descriptor_stays_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        shell("echo x")
        run(["/nonexistent"], 1.0)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_pipe_whose_other_end_is_closed_has_no_reader(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    assert not has_no_reader(writing)
    os.close(reading)
    assert has_no_reader(writing)
    os.close(writing)
    with (tmp_path / "file").open("w") as file:
        assert not has_no_reader(file.fileno())
