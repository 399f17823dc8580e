"""Examples are transcripts: every command is run, and what it says is compared with the text.

A line `$ nhalf …` is a command, the lines below it what it says; `…` stands for anything (on a
line of its own: for any lines), blanks count as one, blank lines not at all. `[exit 1]` is the
exit code. A comment `# needs: SimGrid` leaves the example out where that is not. TOML files and
logs beside the transcript are there when the commands run. The README and the tutorials are
transcripts: the `console` blocks of a page run in order, in one folder. Those that start `./solver`
are a transcript of their own, with that program compiled from `examples/solver`.
"""

from __future__ import annotations

import ctypes.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.nhalf.measure.traced.programs import built, compilers
from tests.nhalf.measure.virtual.programs import library_of

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 120.0
TUTORIALS = ROOT / "docs" / "tutorials"
README = ROOT / "README.md"
PAGES = [README, *sorted(TUTORIALS.glob("*.md"))]
TRANSCRIPTS = [*sorted((ROOT / "examples").glob("*/run.txt")), *PAGES]
PROGRAM = "./solver"
SEARCH = "nhalf improve "
"""Starts the program many times; test_improve.py tries each part of it."""
SOLVER = ROOT / "examples" / "solver" / "solver.cpp"
NEEDS_SIMGRID = re.compile(r"^# needs: SimGrid$|^\$ nhalf predict .*simgrid", re.MULTILINE)


@dataclass
class Step:
    """One command of a transcript with what it must say."""

    command: str
    expected: list[str] = field(default_factory=list)
    exit_code: int = 0


def parse(text: str) -> list[Step]:
    """The commands of a transcript; lines before the first one, and `#` lines, are comments."""
    steps: list[Step] = []
    for line in text.splitlines():
        left = re.fullmatch(r"\[exit (\d+)\]", line.strip())
        if line.startswith("$ "):
            steps.append(Step(line[2:]))
        elif left and steps:
            steps[-1].exit_code = int(left[1])
        elif steps and line.strip() and not line.startswith("# "):
            steps[-1].expected.append(line)
    return steps


def transcript_of(path: Path, starts_program: bool = False) -> str:
    """A transcript as it is, or the console blocks of a page one after the other: those that start
    the program, or all others."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        return text
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return "\n".join(block for block in blocks if (PROGRAM in block) == starts_program)


def condensed(lines: list[str]) -> list[str]:
    """Lines that say something, blanks as one, without rules of tables."""
    kept = (" ".join(line.split()) for line in lines)
    return [line for line in kept if line and not re.fullmatch(r"[─━┈ ]+", line)]


def matches(expected: list[str], output: list[str]) -> bool:
    """Whether the output is what was expected."""
    expression = ""
    for line in condensed(expected):
        parts = [re.escape(part) for part in re.split(r" ?… ?", line)]
        expression += r"(?:.*\n)*?" if line == "…" else ".*?".join(parts) + r"\n"
    said = "".join(f"{line}\n" for line in condensed(output))
    return re.fullmatch(expression, said) is not None


def say(start: Callable[..., Any], command: str) -> tuple[int, str]:
    """Exit code and output of a command, standard error after standard output."""
    words = shlex.split(command)
    assert words[0] == "nhalf", f"only nhalf is called in examples: {command}"
    started = start(*words[1:], environment={"COLUMNS": "120"})
    out, err = started.communicate(timeout=TIMEOUT_S)
    return started.returncode, out + err


def name_of(path: Path) -> str:
    return path.stem if path in PAGES else path.parent.name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=name_of)
def test_example(transcript: Path, tmp_path: Path, start_nhalf: Callable[..., Any]) -> None:
    text = transcript_of(transcript)
    steps = parse(text)
    assert steps
    if NEEDS_SIMGRID.search(text) and ctypes.util.find_library("simgrid") is None:
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    for given in (*transcript.parent.glob("*.toml"), *transcript.parent.glob("*_*.txt")):
        shutil.copy(given, tmp_path)
    follow(steps, start_nhalf)


def follow(steps: list[Step], start: Callable[..., Any]) -> None:
    """Run every command, and compare what it says with what it must say."""
    for step in steps:
        exit_code, output = say(start, step.command)
        assert exit_code == step.exit_code, f"$ {step.command}\n{output}"
        assert matches(step.expected, output.splitlines()), f"$ {step.command}\n{output}"


@pytest.mark.slow
@pytest.mark.parametrize("searches", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_program_of_the_readme(
    tmp_path: Path,
    start_nhalf: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    searches: bool,
) -> None:
    library = library_of("mpich")
    program = built(library, compilers(library)[-1], str(SOLVER), tmp_path)
    program.rename(tmp_path / PROGRAM)
    # Launches of a search start nhalf themselves.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    steps = parse(transcript_of(README, starts_program=True))
    assert len(steps) >= 3
    follow([step for step in steps if (SEARCH in step.command) == searches], start_nhalf)


def test_there_are_examples() -> None:
    assert len(TRANSCRIPTS) >= 4


@pytest.mark.parametrize(
    ("expected", "output", "equal"),
    [
        (["a … c"], ["a b  c"], True),
        (["a … c"], ["a b d"], False),
        (["a", "…", "z"], ["a", "1", "2", "z"], True),
        (["a", "…", "z"], ["a", "z"], True),
        (["a", "…", "z"], ["a", "1"], False),
        (["…"], ["anything", "at all"], True),
        ([], [], True),
        ([], ["unexpected"], False),
        (["1.5 (x)"], ["1x5 (x)"], False),
        (["a b"], ["  a    b ", " ─────", ""], True),
    ],
)
def test_the_comparison_itself(expected: list[str], output: list[str], equal: bool) -> None:
    assert matches(expected, output) == equal
