"""`nhalf improve` from the command line, on a program whose time is a function of a variable."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built
from tests.nhalf.traced_programs import call as call_of_mpi
from tests.nhalf.traced_programs import stored, timed
from tests.patience import patience_s
from tests.server import Ended

TRIAL = """#!/bin/sh
# What nhalf try prints: the time on the virtual machine, and the program's output before.
echo result
test "$UCX_TLS" && seconds=2.0 || seconds=1.0
echo '{"schema":"try/1","virtual_s":'$seconds'}'
"""


@pytest.fixture
def trial(tmp_path: Path) -> list[str]:
    file = tmp_path / "nhalf"
    file.write_text(TRIAL)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return [str(file), "try", "--ranks", "2", "--", "./program"]


def without_compiling(text: str) -> list[str]:
    """Lines but those that a machine prints once: what traces is compiled for its libraries."""
    return [line for line in text.splitlines() if not line.startswith("nhalf: compil")]


def test_a_brake_is_found_proven_and_written_down(
    call: Callable[..., Ended], trial: list[str], tmp_path: Path
) -> None:
    ended = call(
        *("improve", "--json", "--same-output", "exact", "--out", "improved.sh", "--", *trial),
        UCX_TLS="tcp",
        FI_LOG_LEVEL="warn",
    )
    assert (ended.code, without_compiling(ended.err)) == (0, [])
    answer = json.loads(ended.out)
    assert answer["gain"] == {
        **{"factor": pytest.approx(2.0), "ci_low": pytest.approx(2.0), "pairs": 2},
        **{"ci_high": pytest.approx(2.0), "proven": True},
    }
    assert [change["name"] for change in answer["changes"]] == ["without UCX_TLS"]
    assert (answer["traced"], answer["complete"], len(answer["notes"])) == (False, True, 1)
    text = (tmp_path / "improved.sh").read_text()
    assert "# nhalf improve: 2.00 times as fast exactly, 2 pairs of launches: without UCX" in text
    assert "\nunset UCX_TLS\n" in text
    done = subprocess.run(
        ["./improved.sh"],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "UCX_TLS": "tcp"},
        capture_output=True,
    )
    assert b'"virtual_s":1.0' in done.stdout


def test_nothing_helps(call: Callable[..., Ended], trial: list[str], tmp_path: Path) -> None:
    ended = call("improve", "--out", "improved.sh", "--", *trial, FI_PROVIDER="tcp")
    assert ended.code == 0
    assert "Nothing that was tried is proven to help by more than 1 %." in ended.out
    assert "without FI_PROVIDER" in ended.out
    assert "is not traced" in ended.err
    assert not (tmp_path / "improved.sh").exists()


def test_without_progress_the_answer_is_given_and_stands_first(
    call: Callable[..., Ended], trial: list[str]
) -> None:
    ended = call("improve", "--quiet", "--", *trial, UCX_TLS="tcp")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("2.00 times as fast exactly, 2 pairs of launches: without UCX_TLS")
    assert "candidate" in ended.out


def test_the_time_that_the_program_prints_is_made_shorter(
    call: Callable[..., Ended], trial: list[str]
) -> None:
    file = Path(trial[0])
    file.write_text(TRIAL.replace("echo result", 'test "$UCX_TLS" && echo took 3 || echo took 1'))
    words = ("improve", "--json", "--seconds", "took ([0-9.]+)")
    ended = call(*words, "--", *trial, UCX_TLS="tcp")
    answer = json.loads(ended.out)
    assert (ended.code, answer["plain_s"]) == (0, 3.0)
    assert answer["gain"]["factor"] == pytest.approx(3.0)


def test_a_trace_that_is_there_is_not_made_again(
    call: Callable[..., Ended], trial: list[str], tmp_path: Path
) -> None:
    """A rank that computes nearly all the time: a schedule of another tool says nothing of that."""
    traced = timed(2, call_of_mpi(0, "MPI_Send", "sent", 1, 0.0, 1e-9))
    folder = stored(traced, tmp_path / "trace")
    ended = call("improve", "--json", "--trace", folder, "--", *trial, UCX_TLS="tcp")
    answer = json.loads(ended.out)
    assert (ended.code, answer["traced"], answer["launches"]) == (0, True, 1)
    assert {each["fate"] for each in answer["candidates"]} == {"bounded"}
    (tmp_path / "p.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\n")
    with (tmp_path / "p.goal").open("a") as file:
        file.write("rank 1 {\nl1: recv 8b from 0 tag 0\n}\n")
    words = ("improve", "--json", "--trace", tmp_path / "p.goal")
    answer = json.loads(call(*words, "--", *trial, UCX_TLS="tcp").out)
    assert [change["name"] for change in answer["changes"]] == ["without UCX_TLS"]


def test_a_trace_of_other_ranks_is_refused(call: Callable[..., Ended], tmp_path: Path) -> None:
    folder = stored(timed(2, call_of_mpi(0, "MPI_Send", "sent", 1, 0.0, 1e-9)), tmp_path / "trace")
    ended = call("improve", "--trace", folder, "--", "mpiexec", "-n", "4", "true")
    assert ended.code == 2
    assert "the trace has 2 ranks, the command starts 4" in ended.err


def test_a_program_without_mpi_is_refused_with_what_was_seen(call: Callable[..., Ended]) -> None:
    ended = call("improve", "--", "true")
    assert (ended.code, ended.out) == (2, "")
    assert "nothing to improve in true: no call of MPI was traced" in ended.err
    assert "-- mpiexec -n 4 ./program" in ended.err


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--budget", "1m"], 2, "no command is given"),
        (["--", "/nowhere/mpiexec", "-n", "2", "./program"], 2, "cannot start"),
        (["--budget", "soon", "--", "true"], 2, "soon"),
        (["--out", "/nowhere/x.sh", "--", "true"], 2, "cannot write /nowhere/x.sh"),
        (["--out", "/dev/null", "--", "true"], 2, "cannot write /dev/null"),
        (["--to", "tcl", "--", "true"], 2, "a form is given and no file"),
        (["--out", "x", "--to", "lmod", "--", "true"], 2, "x is not read as lmod"),
        (["--out", "x", "--to", "word", "--", "true"], 2, "form"),
        (["--same-output", "'", "--", "true"], 2, "cannot be read"),
        (["--same-output", "/nowhere/same", "--", "true"], 2, "there is no command /nowhere/same"),
        (["--seconds", "(", "--", "true"], 2, "is no pattern"),
        (["--seconds", "([0-9]+)", "--", "true"], 1, "no number in the output matches"),
        (["--trace", "/nowhere/trace", "--", "true"], 2, "/nowhere/trace is no trace"),
        (["--", "false"], 1, "as it is does not run: exit code 1"),
        (["--budget", "1s", "--", "sleep", "60"], 1, "more time with --budget"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    call: Callable[..., Ended], words: list[str], code: int, text: str
) -> None:
    ended = call("improve", "--quiet", *words)
    assert ended.code == code
    assert text in ended.err
    assert len(without_compiling(ended.err)) == 1


def test_interrupted_it_says_what_it_learned_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "UCX_TLS": "tcp"}
    environment |= {"TMPDIR": str(folder)}
    words = [sys.executable, "-m", "nhalf", "improve", "--json", "--", "sh", "-c"]
    note = tmp_path / "note"
    with subprocess.Popen(
        [*words, f"echo >> {note}; test $(wc -l < {note}) -lt 4 || sleep 600"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end_s = time.monotonic() + patience_s(60)
        while time.monotonic() < end_s and (not note.exists() or len(note.read_text()) < 4):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patience_s(30))
    assert process.returncode == 130
    assert json.loads(out)["launches"] >= 2
    assert without_compiling(err) == ["nhalf: interrupted"]
    assert list(folder.iterdir()) == []


@pytest.mark.full
@pytest.mark.slow
def test_a_bad_algorithm_is_found_on_a_machine_that_is_not_there(tmp_path: Path) -> None:
    program = built("mpich", "operation_times", tmp_path)
    nhalf = [sys.executable, "-m", "nhalf"]
    trial = [*nhalf, "try", "--machine", "altix-bx2", "--ranks", "4", "--", str(program)]
    done = subprocess.run(
        [*nhalf, "improve", "--json", "--budget", "30m", "--", *trial, "100", "allreduce:8"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "tree",
        },
        stdout=subprocess.PIPE,
        text=True,
        timeout=patience_s(600),
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["traced"]
    assert answer["changes"][0]["name"] == "without MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"
    assert answer["gain"]["ci_low"] == answer["gain"]["ci_high"] > 1.2
