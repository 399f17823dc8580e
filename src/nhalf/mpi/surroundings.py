# SPDX-License-Identifier: Apache-2.0
"""The variables a library needs, and those of other libraries that must not reach it."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from nhalf.base.processes import run

_SYSTEM = Path("/usr")
_LIBRARIES = ("libmpi.so*", "libmpi_abi.so*")
_CHECK_TIMEOUT_S = 5.0
_FORBIDDEN = 3
_BTL = "OMPI_MCA_btl"


def library_path(prefix: Path, vendor: str) -> list[Path]:
    """The folders of a library's shared objects that exist, in the order of search."""
    if prefix == _SYSTEM:
        multiarch = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
        names = [f"lib/{multiarch}", "lib64", "lib"]
    else:
        # MPICH's wheel keeps the transports that it loads at start in a folder of their own.
        names = ["lib", "lib64", *(["lib/mpich"] if vendor in ("mpich", "unknown") else [])]
    return [prefix / name for name in names if os.path.isdir(prefix / name)]


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
            if os.path.isdir(folder):
                found["FI_PROVIDER_PATH"] = str(folder)
                break
    if vendor == "openmpi":
        if os.environ.get("OPAL_PREFIX"):
            found["OPAL_PREFIX"] = str(prefix)
        if not can_read_neighbours():
            # Otherwise every large message prints an error and takes the long way.
            found["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
            found["OMPI_MCA_smsc"] = "^cma"
        if not has_fabric() and not _chooses_btl(prefix):
            # Version 5 waits a second for a fabric that is not there before it goes without.
            found[_BTL] = "^ofi"
    return found


def has_fabric(root: Path = Path("/")) -> bool:
    """Whether there is a network that libfabric drives itself, such as InfiniBand."""
    patterns = ("sys/class/infiniband/*", "sys/class/cxi/*", "sys/class/hfi1/*", "dev/hfi1*")
    return any(any(root.glob(pattern)) for pattern in patterns)


def _chooses_btl(prefix: Path) -> bool:
    """Whether the user or the site already chose Open MPI's transports, which must stay so."""
    if os.environ.get(_BTL):
        return True
    site = Path("/etc/openmpi") if prefix == _SYSTEM else prefix / "etc"
    user = Path(os.path.expanduser("~/.openmpi/mca-params.conf"))
    return any(_sets_btl(path) for path in (site / "openmpi-mca-params.conf", user))


def _sets_btl(path: Path) -> bool:
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.split("=")[0].strip() == "btl" for line in lines if "=" in line)


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
    outcome = run([sys.executable, "-I", "-S", str(script)], _CHECK_TIMEOUT_S)
    # Where the check itself cannot run nothing is known, and libraries keep their own ways.
    return outcome.exit_code != _FORBIDDEN
