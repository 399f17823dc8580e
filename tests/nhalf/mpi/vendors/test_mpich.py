# SPDX-License-Identifier: Apache-2.0
"""MPICH: how Hydra starts and binds ranks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi import Library
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


@pytest.mark.parametrize(
    ("content", "speaks"),
    [
        (b"...libc.so.6...", ("pmi2",)),
        (b"PMIx_Init: unsupported", ("pmi2",)),
        (b"libpmix.so.2", ("pmix", "pmi2")),
        (b"libpmi2.so.0", ("pmi2",)),
        (b"libpmi.so.0", ("none", "pmi2")),
    ],
)
def test_it_speaks_what_it_is_linked_with(
    tmp_path: Path, content: bytes, speaks: tuple[str, ...]
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libmpi.so.12").write_bytes(content)
    library = Library("mpich-5", "mpich", "5", tmp_path, tmp_path, "hydra", True, None, "prefix")
    assert MPICH.speaks(library) == speaks


@pytest.mark.parametrize(
    ("present", "launcher", "pmi", "version"),
    [
        ("", "", "", ""),
        ("", "srun", "pmi2", ""),
        ("SLURM_JOB_ID", "", "", "1"),
        ("PMIX_NAMESPACE", "", "", "1"),
        ("SLURM_JOB_ID", "srun", "pmi2", ""),
        ("PMIX_NAMESPACE", "srun", "pmi2", "1"),
        ("PMIX_NAMESPACE", "srun", "none", ""),
        ("PMI_SIZE", "srun", "pmix", "x"),
    ],
)
def test_it_is_told_which_process_management_counts_where_there_may_be_two(
    monkeypatch: pytest.MonkeyPatch, present: str, launcher: str, pmi: str, version: str
) -> None:
    for name in ("SLURM_JOB_ID", "PMIX_NAMESPACE", "PMI_SIZE", "MPIR_CVAR_PMI_VERSION"):
        monkeypatch.delenv(name, raising=False)
    if present:
        monkeypatch.setenv(present, "7")
    expected = {"MPIR_CVAR_PMI_VERSION": version} if version else {}
    assert MPICH.variables_under(launcher, pmi) == expected
    monkeypatch.setenv("MPIR_CVAR_PMI_VERSION", "auto")
    assert MPICH.variables_under(launcher, pmi) == {}
