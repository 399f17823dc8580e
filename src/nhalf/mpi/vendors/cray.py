"""Cray MPICH of HPE's machines: found by its module, started by srun.

Written from what users recorded on such machines, and not tried on one: the modules' variables
(CRAY_MPICH_DIR=/opt/cray/pe/mpich/8.1.31/ofi/gnu/12.3 with lib/libmpi_gnu_123.so.12, from JACI and
Frontier), the version text (MPI.jl's answer), and `srun --mpi=cray_shasta` (ARCHER2, in the issues
of likwid). It has no mpiexec. Under PMI-2 each of its processes is alone in its world.
"""

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
"""Variables that are set if `CC` is the programming environment's wrapper."""
_IN_PATH = re.compile(r"/mpich/(\d[\w.]*)")


class Cray(Hydra):
    """Cray MPICH 8 and 9."""

    title: ClassVar[str] = "Cray MPICH"
    version_text: ClassVar[re.Pattern[str]] = re.compile(r"CRAY MPICH version\s+(\d[\w.]*)")
    linked_as: ClassVar[str] = "libmpi_"
    settings: ClassVar[tuple[str, ...]] = ("MPICH_",)
    needed_settings: ClassVar[tuple[str, ...]] = ("MPICH_VERSION", "MPICH_DIR", "MPICH_ENV")
    pmi: ClassVar[tuple[str, ...]] = ("cray_shasta",)

    def loaded(self) -> Loaded | None:
        """The library of the loaded module, which names its folder and its version."""
        folder = os.environ.get(FOLDER, "")
        match = _IN_PATH.search(folder)
        version = os.environ.get(VERSION, "") or (match[1] if match else "")
        return Loaded(Path(folder), version) if version and os.path.isdir(folder) else None

    def compiler(self, prefix: Path) -> Path | None:
        """The wrapper `CC`, which links this library with any compiler."""
        wrapper = shutil.which("CC") if any(map(os.environ.get, WRAPPERS)) else None
        return Path(wrapper) if wrapper else None

    def speaks(self, library: Library) -> tuple[str, ...]:
        """The process management of Slingshot machines only."""
        return self.pmi
