"""MPICH: how Hydra starts and binds ranks, and what mpivars says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi import Library
from nhalf.mpi.job import MpiJob
from nhalf.mpi.vendors import eager_limits
from nhalf.mpi.vendors import mpich as module
from nhalf.mpi.vendors.mpich import CELL, COPIES, COPY, Mpich, parse_eager_limits

MPICH = Mpich()

COMMAND = "./probe --ranks a b"
MPIEXEC = "/opt/mpi/bin/mpiexec"
JOB = MpiJob(
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
        (
            {"hosts": ("a", "b"), "bootstrap": "fork"},
            f"{MPIEXEC} -n 4 -hosts a,b -ppn 2 -bootstrap fork -localhost 127.0.0.1 "
            f"-bind-to core {COMMAND}",
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


VARIABLES = f"""\
466 MPI Control Variables
\tMPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=131072\tSCOPE_ALL_EQ\tNo-object\tMPI_INT\tVERBOSITY_USER_BASIC\tA
\tMPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ=-1\tSCOPE_ALL_EQ\tNo-object\tMPI_INT\tVERBOSITY_USER_BASIC\tB
\t{COPIES}        =1\tSCOPE_ALL_EQ\tNo-object\tMPI_INT\tVERBOSITY_USER_BASIC\tC
\tMPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=-1\tSCOPE_LOCAL\tNo-object\tMPI_INT\tVERBOSITY_USER_BASIC\tD
\t{COPY}=16384\tSCOPE_ALL_EQ\tNo-object\tMPI_INT\tVERBOSITY_USER_BASIC\tE {COPY} (in bytes)
\tMPIR_CVAR_CH4_SHM_POSIX_EAGER   =\tSCOPE_ALL_EQ\tNo-object\tMPI_CHAR\tVERBOSITY_USER_BASIC\tF
\t{CELL}=8192\tSCOPE_ALL_EQ\tNo-object\tMPI_INT\tVERBOSITY_USER_BASIC\tG
"""
NEMESIS = {"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE": 131072}


@pytest.mark.parametrize(
    ("text", "device", "limits"),
    [
        (VARIABLES, "ch4:ofi", {CELL: 8192, COPY: 16384}),
        (VARIABLES.replace("=1\t", "=0\t"), "ch4:ofi", {CELL: 8192}),
        (VARIABLES.replace("OFI_EAGER_THRESHOLD=-1", "OFI_EAGER_THRESHOLD=4096"), "ch4:ofi",
         {CELL: 8192, COPY: 16384, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": 4096}),
        (VARIABLES, "ch3:nemesis", NEMESIS),
        (VARIABLES, "ch5:quantum", {}),
        (VARIABLES, "", {}),
        ("", "ch4:ofi", {}),
    ],
)  # fmt: skip
def test_it_names_the_eager_limits_of_its_device(
    text: str, device: str, limits: dict[str, int]
) -> None:
    version = f"MPICH Version:      5.0.2\nMPICH Device:       {device}\n"
    assert parse_eager_limits(text, version) == limits


@pytest.mark.parametrize("body", ["sleep 1000", "kill -11 $$", "exit 1", "yes", "echo nonsense"])
def test_a_library_that_hangs_or_crashes_has_no_eager_limits(
    tmp_path: Path,
    script: Callable[[Path, str], Path],
    monkeypatch: pytest.MonkeyPatch,
    body: str,
) -> None:
    monkeypatch.setattr(module, "ASK_TIMEOUT_S", 0.5)
    for name in ("mpivars", "mpichversion"):
        script(tmp_path / "bin" / name, body)
    library = Library("mpich-5", "mpich", "5", tmp_path, tmp_path, "hydra", True, None, "prefix")
    assert eager_limits([library]) == {}


def test_mpivars_is_no_rank_of_the_job_around_it(
    tmp_path: Path, script: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts MPI: with these variables it would wait for a launcher."""
    for name in ("PMI_FD", "PMI_RANK", "PMIX_NAMESPACE"):
        monkeypatch.setenv(name, "7")
    joined = '[ -n "$PMI_FD$PMI_RANK$PMIX_NAMESPACE" ] && exit 1'
    script(tmp_path / "bin/mpivars", f"{joined}\ncat <<'END'\n{VARIABLES}END")
    script(tmp_path / "bin/mpichversion", "echo 'MPICH Device:       ch4:ofi'")
    library = Library("mpich-5", "mpich", "5", tmp_path, tmp_path, "hydra", True, None, "prefix")
    assert CELL in eager_limits([library])["mpich-5"]


@pytest.mark.parametrize(("may_read", "names"), [(True, {CELL, COPY}), (False, {CELL})])
def test_the_copy_needs_the_right_to_read_the_memory_of_another_rank(
    tmp_path: Path,
    script: Callable[[Path, str], Path],
    monkeypatch: pytest.MonkeyPatch,
    may_read: bool,
    names: set[str],
) -> None:
    monkeypatch.setattr(module, "can_read_neighbours", lambda: may_read)
    script(tmp_path / "bin/mpivars", f"cat <<'END'\n{VARIABLES}END")
    script(tmp_path / "bin/mpichversion", "echo 'MPICH Device:       ch4:ofi'")
    library = Library("mpich-5", "mpich", "5", tmp_path, tmp_path, "hydra", True, None, "prefix")
    assert set(eager_limits([library])["mpich-5"]) == names
