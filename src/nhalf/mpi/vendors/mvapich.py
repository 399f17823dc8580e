"""MVAPICH and MVAPICH2: MPICH for InfiniBand, whose mpiexec identifies itself only as Hydra.

Written from documents, and not tried: its own `mpiname -a` begins with 'MVAPICH2 2.3.7 …' or
'MVAPICH 4.0 …', its `mpichversion` and MPI_Get_library_version with 'MVAPICH2 Version: 2.3.7'
(Spack's packages mvapich and mvapich2, mpi4py's list of vendors).
"""

import re
from typing import ClassVar

from nhalf.mpi.hydra import Hydra


class Mvapich(Hydra):
    """MVAPICH 2 to 4, whose programs have the handles of MPICH."""

    title: ClassVar[str] = "MVAPICH"
    # Of mpiname; Hydra's is that of the MPICH that it is derived from.
    version_text: ClassVar[re.Pattern[str]] = re.compile(
        r"^MVAPICH2?(?: Version:)?\s+(\d[\w.]*)", re.MULTILINE
    )
    version_command: ClassVar[tuple[str, ...]] = ("mpiname", "-a")
    settings: ClassVar[tuple[str, ...]] = ("MV2_", "MVP_", "MPIR_CVAR_")
    handles_of: ClassVar[str] = "mpich"
