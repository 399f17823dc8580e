"""CONTRIBUTING.md says what is so: the conversation with a probe, and hooks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.base.native_files import executable
from tests.patience import patience_s

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TIMEOUT_S = 60


def test_the_conversation_with_a_probe() -> None:
    try:
        probe = executable("probe-model")
    except MissingError as error:
        pytest.skip(str(error))
    command = re.search(r"^    build/dev/native/probe-model (.*)$", PAGE, re.MULTILINE)
    told = re.search(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert command is not None
    assert told is not None
    lines = told[1].splitlines()
    typed = "".join(line.removeprefix("> ") + "\n" for line in lines if line.startswith("> "))
    done = subprocess.run(
        [probe, *command[1].split()],
        input=typed, capture_output=True, text=True, timeout=patience_s(TIMEOUT_S), check=True,
    )  # fmt: skip
    expected = [line for line in lines if not line.startswith("> ")]
    said = done.stdout.splitlines()
    assert len(said) == len(expected)
    for is_said, shown in zip(said, expected, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, shown.split("…"))), is_said), is_said


def test_hooks_call_what_is_locked_and_download_nothing() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    locked = (ROOT / "locks" / "test.txt").read_text(encoding="utf-8")
    assert re.findall(r"repo: (.*)", hooks) == ["local"]
    assert set(re.findall(r"language: (.*)", hooks)) == {"system"}
    for program in re.findall(r"entry: (\S+)", hooks):
        name = program.removeprefix(".venv/bin/")
        assert name == "python" or re.search(rf"^{name}==", locked, re.MULTILINE), program
