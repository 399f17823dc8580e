"""What the server starts is as a started process; signals are tested where runs are killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., Any]


def test_exit_codes_and_both_streams_come_back(start_nhalf: Start) -> None:
    fine, wrong = start_nhalf("--version"), start_nhalf("shwo")
    said = "nhalf: error: unknown verb 'shwo'; did you mean show?\n"
    assert wrong.communicate(timeout=60) == ("", said)
    out, err = fine.communicate(timeout=60)
    assert (out[:6], err) == ("nhalf ", "")
    assert (fine.returncode, wrong.returncode) == (0, 2)
    assert fine.pid != wrong.pid


def test_folder_and_variables_are_its_own(start_nhalf: Start, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    words = ("run", "--transport", "model", "--out", "r")
    empty = str(tmp_path / "here")
    lost = start_nhalf(*words, folder=tmp_path / "here", environment={"NHALF_NATIVE_DIR": empty})
    assert "unknown transport 'model'" in lost.communicate(timeout=60)[1]
    later = start_nhalf("show", "here", environment={})
    assert "here" in later.communicate(timeout=60)[1]
    assert os.environ.get("NHALF_NATIVE_DIR") != empty


def test_variables_that_come_too_late_are_refused(start_nhalf: Start) -> None:
    with pytest.raises(AssertionError, match="PYTHONUTF8"):
        start_nhalf("--version", environment={"PYTHONUTF8": "1"})


def test_who_does_not_end_is_ended(start_nhalf: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.toml")
    waiting = start_nhalf("run", "mine.toml")
    with pytest.raises(TimeoutError, match="has not ended"):
        waiting.communicate(timeout=0.5)
    waiting.communicate(timeout=60)
    assert waiting.returncode == -9
