"""`nhalf why`: two scripts or runs, the answer in words and JSON, and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from nhalf.experiment.why.explanation import Explanation
from nhalf.experiment.why.sides.commands import command_ways, script_of
from nhalf.present.terminal.why import show_explanation
from nhalf.statistics.intervals import Interval
from tests.nhalf.experiment.why.sides.runs import measured
from tests.patience import patience_s

Call = Callable[..., Any]
PROGRAM = """#!/bin/sh
# Prints the time that a machine without noise would take.
time=1.0
[ "$SLOW" = yes ] && time=1.5
[ "$FAIL" = yes ] && exit 3
[ "$NEVER" = yes ] && sleep 1000
echo "time = $time"
"""
SECONDS = "time = ([0-9.]+)"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that prints a time, which a variable lengthens."""
    path = tmp_path / "program"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


@pytest.fixture
def scripts(tmp_path: Path, program: Path) -> tuple[Path, Path]:
    """Two scripts with five differences, one of which has an effect."""
    a, b = tmp_path / "a.sh", tmp_path / "b.sh"
    a.write_text(f"export V1=1 V2=1\n{program} x\n")
    b.write_text(f"export V1=2 V3=1 SLOW=yes\n{program} y\n")
    return a, b


def test_the_variable_that_slows_a_program_is_named(call: Call, scripts: tuple[Path, Path]) -> None:
    ended = call("why", *scripts, "--seconds", SECONDS)
    assert ended.code == 0
    assert ended.out.startswith("B against A: +50.0 % (1 s → 1.5 s")
    assert "\nSLOW=yes carries 1.00 of the difference; everything else nothing\n" in ended.out
    assert "proof: 12 launches in turns" in ended.out


def test_without_progress_the_answer_is_given(call: Call, scripts: tuple[Path, Path]) -> None:
    ended = call("why", *scripts, "--seconds", SECONDS, "--quiet")
    assert (ended.code, ended.err) == (0, "")
    assert "\nSLOW=yes carries 1.00 of the difference" in ended.out


@pytest.mark.parametrize(
    ("low", "high", "launches", "said"),
    [
        (0.217, 2.008, 12, "which is slower is not known: launches of one side differ too much"),
        (1.213, 1.213, 2, "which is slower is not known from one pair of launches"),
        (0.5, 0.6, 12, "B against A: -44.6 %"),
    ],
)
def test_no_sign_is_given_that_is_not_known(
    low: float, high: float, launches: int, said: str, scripts: tuple[Path, Path]
) -> None:
    a, b = map(script_of, scripts)
    ways = command_ways(a, b, SECONDS, 60.0, [])
    explained = Explanation(
        ways,
        "unfinished",
        Interval(0.554, low, high),
        2.0,
        1.1,
        [],
        [],
        [],
        launches,
        2,
        "time",
        0.02,
    )
    console = Console(width=1000)
    with console.capture() as captured:
        show_explanation(console, explained)
    first = captured.get().splitlines()[0]
    assert first.startswith(said)
    assert "[1.213" not in first


def test_differences_can_be_listed(call: Call, scripts: tuple[Path, Path]) -> None:
    ended = call("why", *scripts, "--list", "--format", "csv")
    assert (ended.code, ended.out.splitlines()[1]) == (0, "SLOW,–,yes,yes")
    assert len(ended.out.splitlines()) == 6


def test_equal_commands_do_not_differ(call: Call, program: Path) -> None:
    words = ("why", "--a", f"{program} 1", "--b", f"V=1 {program} 1", "--seconds", SECONDS)
    ended = call(*words)
    assert (ended.code, ended.out.splitlines()[0][:24]) == (0, "A and B do not differ: 1")
    ended = call(*words[:3], "--b", words[2])
    assert (ended.code, ended.out) == (
        0,
        "A and B are the same: nothing differs that can be switched\n",
    )


def test_a_side_that_fails_is_named_with_its_reason(call: Call, program: Path) -> None:
    ended = call("why", "--a", str(program), "--b", f"FAIL=yes {program}", "--seconds", SECONDS)
    assert (ended.code, ended.out) == (1, "")
    assert "B does not run: exit code 3; try it by itself first" in ended.err


def test_a_side_that_never_ends(call: Call, program: Path) -> None:
    ended = call("why", "--a", f"NEVER=yes {program}", "--b", str(program), "--timeout", "0.1s")
    assert ended.code == 1
    assert "A does not run: no end within 0.1 s" in ended.err


def test_a_budget_that_ends_says_what_is_known(call: Call, program: Path) -> None:
    ended = call("why", "--a", str(program), "--b", f"SLOW=yes {program}", "--budget", "1ms")
    assert ended.code == 1
    assert "not answered: the budget is spent" in ended.out


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "two sides are needed"),
        (("a.sh",), "two sides are needed"),
        (("a.sh", "b.sh", "--a", "x"), "two sides are needed"),
        (("a.sh", "none.sh"), "none.sh cannot be read"),
        (("a.sh", "b.sh", "--seconds", "["), "is no pattern"),
        (("a.sh", "b.sh", "--seconds", "time"), "has no group"),
        (("a.sh", "b.sh", "--least", "200%"), "is not possible"),
        (("a.sh", "b.sh", "--budget", "soon"), "soon"),
        (("--a", "./x | y", "--b", "./x"), "line 1 of --a needs a shell"),
    ],
)
def test_bad_input(
    call: Call, scripts: tuple[Path, Path], words: tuple[str, ...], message: str
) -> None:
    folder = scripts[0].parent
    ended = call("why", *(folder / word if word.endswith(".sh") else word for word in words))
    assert ended.code == 2
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1


def test_json_of_runs_of_the_model_machine(call: Call, tmp_path: Path) -> None:
    a = measured(tmp_path / "a", "L=5e-6,flag_slow=2", 1)
    b = measured(tmp_path / "b", "L=9e-6,flag_slow=3", 1)
    ended = call("why", a.path, b.path, "--json")
    said = json.loads(ended.out)
    assert (ended.code, said["verdict"], said["exact"]) == (0, "explained", True)
    assert said["recorded_ratio"] == pytest.approx(11.0512 / 7.0512)
    (cause,) = said["causes"]
    (member,) = cause["members"]
    assert member["switches"] == [{"name": "L", "a": "5e-6", "b": "9e-6"}]
    assert cause["share"]["value"] == pytest.approx(1.0)
    assert cause["remainder_share"]["value"] == pytest.approx(0.0, abs=1e-9)
    assert {switch["name"] for switch in said["switches"]} == {"L", "flag_slow"}


def test_a_run_and_a_command_cannot_be_mixed(call: Call, tmp_path: Path) -> None:
    run = measured(tmp_path / "a", "", 1)
    ended = call("why", run.path, "--b", "./program")
    assert ended.code == 2
    assert "a run can only be mixed with a run" in ended.err


def test_what_cannot_be_switched_is_listed(call: Call, tmp_path: Path) -> None:
    a, b = (
        measured(tmp_path / name, f"L={latency}", 1) for name, latency in (("a", 5e-6), ("b", 9e-6))
    )
    description = b.path / "run.json"
    said = json.loads(description.read_text())
    said["plan"]["options"] = a.plan["options"]
    said["environment"]["system"] = "Linux 7.1"
    description.write_text(json.dumps(said))
    ended = call("why", a.path, b.path)
    assert ended.code == 1
    assert "none of what can be switched explains it" in ended.out
    assert "not tried: system (Linux" in ended.out
    assert "→ Linux 7.1)" in ended.out


def test_an_interruption_prints_what_is_known(program: Path) -> None:
    words = ["why", "--a", str(program), "--b", f"NEVER=yes {program}", "--budget", "10m"]
    process = subprocess.Popen(
        [sys.executable, "-m", "nhalf", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        deadline_s = time.monotonic() + patience_s(60.0)
        while not _child_sleeps(process.pid) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patience_s(30.0))
    assert process.returncode == 130
    assert "not answered: interrupted" in out
    assert err == ("nhalf: interrupted; what is known stands above; start it again for an answer\n")


def _child_sleeps(parent: int) -> bool:
    """Whether the program's `sleep` has begun somewhere below a process."""
    listed = subprocess.run(
        ["ps", "-eo", "ppid=,pid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    below = {parent}
    for _ in range(3):
        below |= {int(pid) for ppid, pid, _ in rows if int(ppid) in below}
    return any(int(pid) in below and args.startswith("sleep 1000") for _, pid, args in rows)
