"""MPI libraries: discovery, installation, and building and starting probes on them."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Library:
    """An MPI library that can start processes.

    `name` is unique on this machine and what users type ('mpich-5.0.2'); `vendor` the name of a
    file of mpi/vendors, and `vendor_title` its usual name ('Open MPI'); `launcher` the name of
    the launcher that drives `mpiexec`, which is None if only other launchers start it; `abi` means
    that it loads programs built for the MPI 5.0 standard ABI; `compiler` is its C++ compiler
    wrapper, None if it has none; `origin` one of wheel, system, prefix, path. `environment` holds
    the variables needed to run programs on it (LD_LIBRARY_PATH and the like, complete values).
    """

    name: str
    vendor: str
    version: str
    prefix: Path
    mpiexec: Path | None
    launcher: str
    abi: bool
    compiler: Path | None
    origin: str
    environment: dict[str, str] = field(default_factory=dict)
    vendor_title: str = ""

    @property
    def title(self) -> str:
        """The library's name in reports: 'MPICH 5.0.2 (wheel)'."""
        return f"{self.vendor_title or self.vendor} {self.version} ({self.origin})"
