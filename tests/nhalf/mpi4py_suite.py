"""The tests of mpi4py, and mpi4py itself, as programs of nhalf's tests."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from nhalf.base.processes import run
from tests.compiled import KEPT
from tests.patience import patience_s

VERSION = "4.1.1"
TIMEOUT_S = 300.0
HANDLES = {"mpich": "mpich", "openmpi": "openmpi", "intel": "mpich"}
"""The kind of handles that its module is to use, by vendor."""


def packages(folder: Path) -> Path:
    """A folder with mpi4py from its wheel, installed once for all. Skips a test where it cannot be
    had.
    """
    kept = KEPT / f"mpi4py-{VERSION}-{sys.implementation.cache_tag}"
    if not kept.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as made:
            target = Path(made) / "packages"
            _pip("install", "--only-binary", ":all:", "-t", target, f"mpi4py=={VERSION}")
            # Another worker may have been quicker.
            with suppress(OSError):
                target.rename(kept)
    (folder / "packages").symlink_to(kept)
    return folder / "packages"


def installed(folder: Path) -> Path:
    """A folder with mpi4py from its wheel in packages/, and its tests from its source.

    Skips a test where neither can be had.
    """
    packages(folder)
    _pip("download", "--no-deps", "--no-binary", "mpi4py", "-d", folder, f"mpi4py=={VERSION}")
    _run(["tar", "-C", folder, "-xf", folder / f"mpi4py-{VERSION}.tar.gz"])
    return folder


def _pip(command: str, *words: str | Path) -> None:
    _run([sys.executable, "-m", "pip", command, "--quiet", *words])


def _run(command: Sequence[str | Path]) -> None:
    outcome = run([str(word) for word in command], patience_s(TIMEOUT_S), {"MPICC": "cc"})
    if not outcome.succeeded:
        pytest.skip(f"mpi4py cannot be had here: {outcome.reason}")


def suite(folder: Path) -> Path:
    """The program that runs the tests."""
    return folder / f"mpi4py-{VERSION}/test/main.py"
