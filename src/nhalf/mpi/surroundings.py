# SPDX-License-Identifier: Apache-2.0
"""The variables a library needs, and those of other libraries that must not reach it."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from nhalf.mpi.processes import run

_SYSTEM = Path("/usr")
_LIBRARIES = ("libmpi.so*", "libmpi_abi.so*")
_CHECK_TIMEOUT_S = 5.0


def library_path(prefix: Path, vendor: str) -> list[Path]:
    """The folders of a library's shared objects that exist, in the order of search."""
    if prefix == _SYSTEM:
        multiarch = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
        names = [f"lib/{multiarch}", "lib64", "lib"]
    else:
        # MPICH's wheel keeps the transports that it loads at start in a folder of their own.
        names = ["lib", "lib64", *(["lib/mpich"] if vendor in ("mpich", "unknown") else [])]
    return [prefix / name for name in names if (prefix / name).is_dir()]


def variables(prefix: Path, vendor: str) -> dict[str, str]:
    """Complete values of the variables that programs on this library must be started with."""
    own = [] if prefix == _SYSTEM else library_path(prefix, vendor)
    found: dict[str, str] = {}
    folders = [*map(str, own), *_inherited(own)]
    if folders or os.environ.get("LD_LIBRARY_PATH"):
        found["LD_LIBRARY_PATH"] = os.pathsep.join(folders)
    if vendor == "intel":
        found["I_MPI_ROOT"] = str(prefix)
        providers = [prefix / "lib/libfabric/prov", prefix / "opt/mpi/libfabric/lib/prov"]
        for folder in providers:
            if folder.is_dir():
                found["FI_PROVIDER_PATH"] = str(folder)
                break
    if vendor == "openmpi":
        if os.environ.get("OPAL_PREFIX"):
            found["OPAL_PREFIX"] = str(prefix)
        if not can_read_neighbours():
            # Otherwise every large message prints an error and takes the long way.
            found["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
            found["OMPI_MCA_smsc"] = "^cma"
    return found


def _inherited(own: Iterable[Path]) -> list[str]:
    """The caller's LD_LIBRARY_PATH without folders of MPI libraries, which would take over."""
    kept = []
    present = {str(folder) for folder in own}
    for part in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        foreign = part and any(any(Path(part).glob(name)) for name in _LIBRARIES)
        if part and part not in present and not foreign:
            kept.append(part)
    return kept


@functools.cache
def can_read_neighbours() -> bool:
    """Whether a process may read the memory of its sibling, as libraries do for large messages."""
    script = Path(__file__).with_name("neighbours.py")
    return run([sys.executable, "-I", "-S", str(script)], _CHECK_TIMEOUT_S).succeeded
