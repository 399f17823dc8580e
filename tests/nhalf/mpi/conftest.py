# SPDX-License-Identifier: Apache-2.0
"""Folders of its own for every test, and bad programs, which are the thing under test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[[Path, str], Path]


def write_script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def script() -> Script:
    """Writes an executable shell script."""
    return write_script


@pytest.fixture
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without MPI on its PATH and with empty folders; returns its root."""
    for variable, name in (
        ("XDG_DATA_HOME", "data"),
        ("XDG_CACHE_HOME", "cache"),
        ("HOME", "home"),
    ):
        monkeypatch.setenv(variable, str(tmp_path / name))
    for variable in ("NHALF_MPI_PREFIXES", "LD_LIBRARY_PATH", "OPAL_PREFIX", "OMPI_MCA_btl"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/nowhere")
    monkeypatch.setattr("nhalf.mpi.discover.SYSTEM_FOLDERS", ())
    return tmp_path
