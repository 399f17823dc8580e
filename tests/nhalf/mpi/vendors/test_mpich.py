# SPDX-License-Identifier: Apache-2.0
"""MPICH: how Hydra starts and binds ranks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi.job import Job
from nhalf.mpi.vendors.mpich import Mpich

MPICH = Mpich()

COMMAND = "./probe --ranks a b"
MPIEXEC = "/opt/mpi/bin/mpiexec"
JOB = Job(
    command=("./probe", "--ranks", "a b"),
    ranks=4,
    mpiexec=Path(MPIEXEC),
    environment={"LD_LIBRARY_PATH": "/opt/mpi/lib"},
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, f"{MPIEXEC} -n 4 -bind-to core {COMMAND}"),
        ({"bind": False}, f"{MPIEXEC} -n 4 -bind-to none {COMMAND}"),
        ({"oversubscribe": True}, f"{MPIEXEC} -n 4 -bind-to core {COMMAND}"),
        (
            {"hosts": ("a", "b")},
            f"{MPIEXEC} -n 4 -hosts a,b -ppn 2 -bind-to core {COMMAND}",
        ),
        (
            {"hosts": ("a", "b"), "cyclic": True, "bootstrap": "slurm"},
            f"{MPIEXEC} -n 4 -hosts a,b -ppn 1 -bootstrap slurm -bind-to core {COMMAND}",
        ),
        ({"mpiexec": None}, f"mpiexec -n 4 -bind-to core {COMMAND}"),
    ],
)
def test_words(changes: dict[str, Any], expected: str) -> None:
    assert " ".join(MPICH.tokens(replace(JOB, **changes))) == expected
