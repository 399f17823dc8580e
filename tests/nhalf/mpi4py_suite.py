# SPDX-License-Identifier: Apache-2.0
"""The tests of mpi4py, and mpi4py itself, as programs of nhalf's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nhalf.base.processes import run
from tests.patience import patience_s

VERSION = "4.1.1"
TIMEOUT_S = 300.0
HANDLES = {"mpich": "mpich", "openmpi": "openmpi", "intel": "mpich"}
"""The kind of handles that its module is to use, by vendor."""


def installed(folder: Path) -> Path:
    """A folder with mpi4py from its wheel in packages/, and its tests from its source.

    Skips a test where neither can be had.
    """
    pip = [sys.executable, "-m", "pip"]
    named = f"mpi4py=={VERSION}"
    for command in (
        [*pip, "install", "--quiet", "--only-binary", ":all:", "-t", folder / "packages", named],
        [*pip, "download", "--quiet", "--no-deps", "--no-binary", "mpi4py", "-d", folder, named],
        ["tar", "-C", folder, "-xf", folder / f"mpi4py-{VERSION}.tar.gz"],
    ):
        outcome = run([str(word) for word in command], patience_s(TIMEOUT_S), {"MPICC": "cc"})
        if not outcome.succeeded:
            pytest.skip(f"mpi4py cannot be had here: {outcome.reason}")
    return folder


def suite(folder: Path) -> Path:
    """The program that runs the tests."""
    return folder / f"mpi4py-{VERSION}/test/main.py"
