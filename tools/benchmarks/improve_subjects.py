"""The programs that searches of `nhalf improve` are tried on: with a brake, and without one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.mpi.discover import find

SOURCE = Path(__file__).with_name("improve_programs.c")
RULE = "OMPI_MCA_coll_tuned_allreduce_algorithm"


@dataclass(frozen=True)
class Subject:
    """A program on a library: `variables` are its brake, or some other circumstance.

    A search has found what it was made to find if a change that it proved has one of `answers` in
    its name.
    """

    name: str
    library: str
    words: str
    variables: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[str, ...] = ()

    def command(self, folder: Path) -> list[str]:
        """Two ranks of it, started as anybody does."""
        launcher = find(self.library).mpiexec
        return [
            str(launcher),
            "-n",
            "2",
            str(program_of(self.library, folder)),
            *self.words.split(),
        ]

    def environment(self) -> dict[str, str]:
        """What it is started with, beside what is set already."""
        folders = find(self.library).environment.get("LD_LIBRARY_PATH", "")
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        allowed = root if self.library == "openmpi" else {}
        prefix = {"I_MPI_ROOT": str(find("intel").prefix)} if self.library == "intel" else {}
        return {**os.environ, "LD_LIBRARY_PATH": folders, **allowed, **prefix, **self.variables}


BRAKED = (
    Subject(
        "messages of 3000 B, an eager limit of 256 B",
        "openmpi",
        "pingpong 100000 3000",
        {"OMPI_MCA_btl_sm_eager_limit": "256"},
        ("btl_sm_eager_limit",),
    ),
    Subject(
        "ranks that are not bound",
        "intel",
        "exchange 5000 10000",
        {"I_MPI_PIN": "0"},
        ("without I_MPI_PIN", "pinned to cores"),
    ),
    Subject(
        "allreduces of 400 KB, a segmented ring with segments of 64 B",
        "openmpi",
        "allreduce 1000 400000",
        {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            RULE: "5",
            f"{RULE}_segmentsize": "64",
        },
        (f"without {RULE}", "without any setting", "allreduce"),
    ),
    Subject(
        "messages of 4 MB, no copies by the kernel",
        "mpich",
        "pingpong 30 4000000",
        {"MPIR_CVAR_CH4_CMA_ENABLE": "0"},
        ("without MPIR_CVAR_CH4_CMA_ENABLE",),
    ),
    Subject(
        "messages of 1000 B over TCP",
        "openmpi",
        "pingpong 50000 1000",
        {"OMPI_MCA_btl": "tcp,self"},
        ("without OMPI_MCA_btl", "shared memory alone", "messages by UCX"),
    ),
    Subject(
        "3 million barriers", "intel", "barrier 3000000 8", {}, ("nhalf's collectives", "barrier")
    ),
    Subject(
        "allreduces of 8 B",
        "intel",
        "allreduce 1000000 8",
        {},
        ("nhalf's collectives", "allreduce"),
    ),
    Subject(
        "32 MiB exchanged while an accelerator works",
        "intel",
        "accelerator 12 33554432",
        {},
        ("progress while computing", "with mpich"),
    ),
)
"""The first six have a brake that was planted; of the others the library is one."""
PLANTED = 6

PROGRAMS = ("stencil 5000 100000", "gradients 6000 40000", "farm 3 2000000")
LIBRARIES = ("mpich", "openmpi", "intel")


def without_brake(number: int) -> Subject:
    """The subject of a search by its number: every program on every library, in turns."""
    words = PROGRAMS[number % len(PROGRAMS)]
    library = LIBRARIES[number // len(PROGRAMS) % len(LIBRARIES)]
    return Subject(words.split(maxsplit=1)[0], library, words)


def program_of(library: str, folder: Path) -> Path:
    """The programs for a library, compiled once: those of MPICH are of the standard ABI."""
    maker = find("openmpi" if library == "openmpi" else "mpich")
    program = folder / f"programs-{maker.name}"
    if not program.is_file():
        compiler = maker.prefix / "bin" / ("mpicc_abi" if maker.vendor == "mpich" else "mpicc")
        environment = {**os.environ, **maker.environment}
        words = [str(compiler), "-O2", str(SOURCE), "-o", str(program)]
        subprocess.run(words, check=True, env=environment)
    return program
