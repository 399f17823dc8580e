"""The environment of a run, recorded so that its numbers can be interpreted later."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from nhalf.base.version import __version__

RELEVANT = ("OMPI_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "I_MPI_", "FI_", "UCX_", "SLURM_", "OMP_")
"""Variables with these prefixes affect communication."""

_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def environment() -> dict[str, Any]:
    """Host, processor, cores, memory domains, clocks, system and variables, as plain values."""
    return {
        "nhalf": __version__,
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "distribution": _distribution(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "cores_allowed": sorted(os.sched_getaffinity(0)),
        "caches": cache_bytes(),
        "numa_domains": len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "governor": _line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "not shown",
        "clock_source": _line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "virtual_machine": "hypervisor" in _line("/proc/cpuinfo", whole=True),
        "container": _container(),
        "superuser": os.geteuid() == 0,
        "python": sys.version.split()[0],
        "variables": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(RELEVANT)
        },
    }


def simulated_environment(machine: str) -> dict[str, Any]:
    """The environment of a simulation, which depends only on this machine's programs."""
    return {
        "nhalf": __version__,
        "host": f"{machine} (simulated)",
        "python": sys.version.split()[0],
    }


def virtual_environment(host: str) -> dict[str, Any]:
    """The environment of ranks on a virtual network; `host` stands for its machine."""
    names = ("nhalf", "python", "variables")
    return {name: value for name, value in environment().items() if name in names} | {"host": host}


def _line(path: str, whole: bool = False) -> str:
    """The first line of a file, or its `whole` text; '' if it cannot be read."""
    try:
        text = Path(path).read_text("utf-8", errors="replace")
    except OSError:
        return ""
    return text if whole else text.partition("\n")[0].strip()


def cache_bytes() -> dict[str, int]:
    """The size of each data cache of the first core; empty if it is not shown."""
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        size = re.fullmatch(r"(\d+)([KMG])", _line(str(folder / "size")))
        level = _line(str(folder / "level"))
        if size and level.isdigit() and _line(str(folder / "type")) != "Instruction":
            sizes[f"L{level}_bytes"] = int(size[1]) * _UNITS[size[2]]
    return sizes


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _processor() -> str:
    for line in _line("/proc/cpuinfo", whole=True).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _container() -> bool:
    """Whether the usual signs of a container are present."""
    signs = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    return signs or "container" in os.environ
