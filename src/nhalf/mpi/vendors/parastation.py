"""ParaStation MPI: MPICH with its own device, found by its module, started by srun.

Written from its public sources and from job scripts of users, and not tried: its version text
begins with '=== ParaStation MPI 5.10.0-1 ===' (device psp, mpidpre.h), Hydra is built only on
request (its README), modules of EasyBuild set EBROOTPSMPI, and under ParaStation's Slurm plug-in
`srun --mpi` offers pspmix, for PMIx, and pspmi, for PMI-1.
"""

import os
import re
from pathlib import Path
from typing import ClassVar

from nhalf.mpi import Library
from nhalf.mpi.hydra import Hydra
from nhalf.mpi.vendors import Loaded

MODULES = ("PSMPI", "PARASTATIONMPI")
"""Names of its modules, as EBROOT… and EBVERSION… have them."""


class Parastation(Hydra):
    """ParaStation MPI 5, whose programs have the handles of MPICH."""

    title: ClassVar[str] = "ParaStation MPI"
    # Of MPI_Get_library_version; Hydra has that of the MPICH below.
    version_text: ClassVar[re.Pattern[str]] = re.compile(
        r"^=== ParaStation MPI (\d[\w.-]*)", re.MULTILINE
    )
    version_command: ClassVar[tuple[str, ...]] = ("mpichversion",)
    settings: ClassVar[tuple[str, ...]] = ("PSP_", "MPIR_CVAR_")
    handles_of: ClassVar[str] = "mpich"

    def loaded(self) -> Loaded | None:
        """The module that is loaded, which names its folder and its version."""
        for module in MODULES:
            folder = os.environ.get(f"EBROOT{module}", "")
            version = os.environ.get(f"EBVERSION{module}", "")
            if version and os.path.isdir(folder):
                return Loaded(Path(folder), version)
        return None

    def speaks(self, library: Library) -> tuple[str, ...]:
        """The plug-ins of ParaStation's own Slurm, then what MPICH speaks elsewhere."""
        elsewhere = super().speaks(library)
        with_pmix = ("pspmix",) if "pmix" in elsewhere else ()
        return (*with_pmix, "pspmi", *elsewhere)
