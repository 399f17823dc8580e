"""The command line in a Python that has imported nothing; runs without noise; small disks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.store.keys import VERSION
from nhalf.store.run import Run
from tests.patience import patience_s
from tests.server import CALL_S, Ended

Make = Callable[..., pl.LazyFrame]
Keep = Callable[..., str]
SIZES = [0, 8, 1024, 65536]


@pytest.fixture
def call_afresh(tmp_path: Path) -> Callable[..., Ended]:
    """As `call`, in a Python that has imported nothing; `before` runs in the child."""

    def start(*words: str | Path, before: Any = None, **environment: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "nhalf", *map(str, words)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience_s(CALL_S),
            check=False,
            preexec_fn=before,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return start


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system in memory with options of its own, such as size=64k; may be asked again.

    Only the superuser may, and not in every container.
    """
    folder = tmp_path / "disk"

    def mount(options: str) -> Path:
        if os.path.ismount(folder):
            options = f"remount,{options}"
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            pytest.skip(f"mount cannot be started: {error}")
        if done.returncode != 0:
            pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
        return folder

    yield mount
    if os.path.ismount(folder):
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def keep(tmp_path: Path, make_measurements: Make) -> Keep:
    """Makes a run directory of measurements without noise."""

    def make(name: str, **asked: Any) -> str:
        folder = tmp_path / name
        Run.create(folder, {"environment": {"host": "n1"}, "plan": {}, "titles": {}})
        given = {"sizes": SIZES, "noise": 0.0, "launch_noise": 0.0, **asked}
        frame = make_measurements(**given).collect().drop("run")
        metadata = {"nhalf.schema": str(VERSION)}
        frame.write_parquet(folder / "measurements.parquet", metadata=metadata)
        return str(folder)

    return make
