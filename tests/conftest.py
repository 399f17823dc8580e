"""What all tests share: where the compiled probes are, unless NHALF_NATIVE_DIR says it; nhalf in
processes of its own; machines without MPI, and programs that are bad on purpose."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.open_files import remove_session_folders
from tests.abandoned_sessions import abandoned_sessions
from tests.schemas import check_schema
from tests.server import CALL_S, Ended, Started, server

pytest_plugins = ("tests.schedule", "tests.times")
NATIVE = Path(__file__).resolve().parent.parent / "build" / "native"
Script = Callable[[Path, str], Path]

# Workers of xdist have the size of a terminal that is not there.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)

# A shell starts what runs in the background without them; programs that tests interrupt need them.
USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGQUIT: signal.SIG_DFL}
for number, usual in USUAL.items():
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, usual)

if (NATIVE / "bin").is_dir():
    os.environ.setdefault("NHALF_NATIVE_DIR", str(NATIVE))


@pytest.fixture(autouse=True)
def _no_sessions_of_killed_launchers() -> Iterator[None]:
    """Tests kill launchers; what these leave would fail later ones of the same process ID."""
    yield
    remove_session_folders(abandoned_sessions())


@pytest.fixture
def start_nhalf(tmp_path: Path) -> Callable[..., Any]:
    """Starts nhalf in an empty folder; see `Server.start` for what can be asked."""

    def start(*words: str | Path, **wanted: Any) -> Started:
        return server().start(*words, **{"folder": tmp_path, **wanted})

    return start


@pytest.fixture
def call(start_nhalf: Callable[..., Any]) -> Callable[..., Ended]:
    """Calls nhalf in an empty folder; `environment` is added."""

    def ask(*words: str | Path, **environment: str) -> Ended:
        started = start_nhalf(*words, environment=environment)
        out, err = started.communicate(timeout=CALL_S)
        check_schema(out)
        return Ended(started.returncode, out, err)

    return ask


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


@pytest.fixture
def shared_place() -> Iterator[Path]:
    """A folder like /tmp, where anybody may make files; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o1777)
        yield place
