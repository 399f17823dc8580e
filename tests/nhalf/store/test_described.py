"""Folders of runs and traces by their age."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nhalf.store.described import USUAL, described_folders


def test_the_newest_stands_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert described_folders() == []
    for name, file, time_s in (
        ("b", "run.json", 5),
        ("a", "run.json", 5),
        ("c", "trace.json", 2),
        ("d", "other.json", 9),
        ("e", "run.json", 3),
    ):
        path = USUAL / name / file
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        os.utime(path, (time_s, time_s))
    assert described_folders() == [USUAL / name for name in ("c", "e", "a", "b")]
