# SPDX-License-Identifier: Apache-2.0
"""Cray MPICH of HPE's machines: found by its module, started by srun.

Written from what users recorded on such machines, and not tried on one: the modules' variables
(CRAY_MPICH_DIR=/opt/cray/pe/mpich/8.1.31/ofi/gnu/12.3 with lib/libmpi_gnu_123.so.12, from JACI and
Frontier), the version text (MPI.jl's answer), and `srun --mpi=cray_shasta` (ARCHER2, in the issues
of likwid). It has no mpiexec. Under PMI-2 each of its processes is alone in its world.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import ClassVar

from nhalf.mpi import Library
from nhalf.mpi.hydra import Hydra
from nhalf.mpi.vendors import Loaded

FOLDER = "CRAY_MPICH_DIR"
VERSION = "CRAY_MPICH_VERSION"
WRAPPERS = ("CRAYPE_VERSION", "CRAYPE_DIR")
"""Set where `CC` is the programming environment's wrapper, and no other compiler's name."""
_IN_PATH = re.compile(r"/mpich/(\d[\w.]*)")


class Cray(Hydra):
    """Cray MPICH 8 and 9."""

    title: ClassVar[str] = "Cray MPICH"
    linked_as: ClassVar[str] = "libmpi_"
    pmi: ClassVar[tuple[str, ...]] = ("cray_shasta",)

    def version_in(self, text: str) -> str:
        """As MPI_Get_library_version has it: 'CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)'."""
        match = re.search(r"CRAY MPICH version\s+(\d[\w.]*)", text)
        return match[1].rstrip(".") if match else ""

    def loaded(self) -> Loaded | None:
        """The module that is loaded, which names its folder and its version."""
        folder = os.environ.get(FOLDER, "")
        named = _IN_PATH.search(folder)
        version = os.environ.get(VERSION, "") or (named[1] if named else "")
        return Loaded(Path(folder), version) if version and os.path.isdir(folder) else None

    def compiler(self, prefix: Path) -> Path | None:
        """`CC`, which links this library whatever compiler is behind it."""
        found = shutil.which("CC") if any(map(os.environ.get, WRAPPERS)) else None
        return Path(found) if found else None

    def speaks(self, library: Library) -> tuple[str, ...]:
        """That of Slingshot machines only."""
        return self.pmi
