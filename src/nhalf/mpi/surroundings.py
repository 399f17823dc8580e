"""The variables that a library needs, without those of others, and whose a launcher is."""

import functools
import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.vendors import Vendor, vendors

SYSTEM = Path("/usr")
_LIBRARIES = ("libmpi.so*", "libmpi_abi.so*")
_CHECK_TIMEOUT_S = 5.0
_FORBIDDEN = 3


def library_path(prefix: Path, vendor: Vendor | None = None) -> list[Path]:
    """The existing folders of a library's shared objects, in the order of search.

    Without a vendor, the folders of all vendors are included.
    """
    if prefix == SYSTEM:
        multiarch = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
        names = [f"lib/{multiarch}", "lib64", "lib"]
    else:
        candidates = [vendor] if vendor else vendors().values()
        names = ["lib", "lib64", *(name for candidate in candidates for name in candidate.folders)]
    return [prefix / name for name in names if os.path.isdir(prefix / name)]


def variables(prefix: Path, vendor: Vendor | None = None) -> dict[str, str]:
    """Complete values of the variables with which programs on this library must be started."""
    own = [] if prefix == SYSTEM else library_path(prefix, vendor)
    search_path: dict[str, str] = {}
    # The caller's LD_LIBRARY_PATH without folders of MPI libraries, which would be loaded.
    inherited = []
    present = {str(folder) for folder in own}
    for part in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        foreign = part and any(any(Path(part).glob(name)) for name in _LIBRARIES)
        if part and part not in present and not foreign:
            inherited.append(part)
    folders = [*map(str, own), *inherited]
    if folders or os.environ.get("LD_LIBRARY_PATH"):
        search_path["LD_LIBRARY_PATH"] = os.pathsep.join(folders)
    return {**search_path, **(vendor.variables(prefix) if vendor else {})}


def has_fabric(root: Path = Path("/")) -> bool:
    """Whether there is a network that libfabric drives itself, such as InfiniBand."""
    patterns = ("sys/class/infiniband/*", "sys/class/cxi/*", "sys/class/hfi1/*", "dev/hfi1*")
    return any(any(root.glob(pattern)) for pattern in patterns)


@functools.cache
def can_read_neighbours() -> bool:
    """Whether a process may read the memory of its sibling, as libraries do for large messages."""
    script = Path(__file__).with_name("neighbours.py")
    # If the check itself cannot run, nothing is known, and libraries keep their defaults.
    return run([sys.executable, "-I", "-S", str(script)], _CHECK_TIMEOUT_S).exit_code != _FORBIDDEN


NAMES = ("mpiexec", "mpirun", "prterun", "orterun")


def libraries_of_launcher(launcher: str, installed: Sequence[Library]) -> list[Library]:
    """Return the libraries whose launcher a program is; empty if it is none.

    A library may have several launchers, and several libraries may have theirs in one folder.
    """
    program = shutil.which(launcher)
    if program is None or not Path(launcher).name.startswith(NAMES):
        return []
    path = Path(program).resolve()
    folders = {path.parent, Path(program).parent.resolve()}
    launchers = [(library, library.mpiexec.resolve()) for library in installed if library.mpiexec]
    same_file = [library for library, own in launchers if own == path]
    return same_file[:1] or [library for library, own in launchers if own.parent in folders]
