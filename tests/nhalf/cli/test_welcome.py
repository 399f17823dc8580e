"""`nhalf` alone: what it is, what is here, and commands that can be typed as they stand."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_reference
from nhalf.cli.welcome import QUESTIONS

Call = Callable[..., Any]
COMMANDS = dict(command_reference.commands(command_reference.root()))


def described(path: Path, name: str, time_s: float) -> None:
    """A folder that looks like a run or a trace."""
    path.mkdir(parents=True)
    (path / name).write_text("{}")
    os.utime(path / name, (time_s, time_s))


def test_without_words_there_are_questions_and_no_list_of_verbs(call: Call) -> None:
    ended = call()
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert "communication performance" in lines[0]
    assert "runs/ holds no run" in lines[1]
    assert "nhalf doctor" in lines[1]
    assert len(QUESTIONS) == 6
    assert "nhalf run --report --out runs/today\n" in ended.out, "the next line compares with it"
    assert "nhalf run --like runs/today\n" in ended.out
    assert ended.out.endswith("All verbs: nhalf --help\n")
    assert len(lines) == len(QUESTIONS) + 5


def test_what_is_here_is_named(call: Call, tmp_path: Path) -> None:
    described(tmp_path / "runs" / "monday", "run.json", 1e9)
    assert "runs/ holds 1 run, the newest runs/monday." in call().out
    described(tmp_path / "runs" / "two days", "run.json", 2e9)
    described(tmp_path / "runs" / "traced", "trace.json", 3e9)
    out = call().out
    assert "nhalf run --report\n" in out
    assert "runs/ holds 3 runs, the newest runs/traced." in out
    assert "nhalf run --like 'runs/two days'\n" in out, "a trace is nothing to compare a run with"


def test_a_folder_that_cannot_be_read_is_no_obstacle(call: Call, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    assert "holds no run" in call().out


def test_the_commands_exist_with_their_options() -> None:
    for question, line in QUESTIONS:
        assert question.endswith("?")
        words = shlex.split(line.partition(" -- ")[0])
        options = {option for one in COMMANDS[" ".join(words[:2])].params for option in one.opts}
        assert {word for word in words if word.startswith("--")} <= options
