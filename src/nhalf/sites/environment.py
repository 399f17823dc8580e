"""The environment of a run, recorded so that its numbers can be interpreted later."""

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from nhalf.base.files import text_in
from nhalf.base.version import __version__

RELEVANT = ("OMPI_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "I_MPI_", "FI_", "UCX_", "SLURM_", "OMP_")
"""Variables with these prefixes affect communication."""

CPU = Path("/sys/devices/system/cpu/cpu0")
CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
PROCESSORS = Path("/proc/cpuinfo")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


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
        "governor": text_in(CPU / "cpufreq/scaling_governor") or "not shown",
        "clock_source": text_in(CLOCK_SOURCE),
        "virtual_machine": "hypervisor" in text_in(PROCESSORS),
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


def cache_bytes() -> dict[str, int]:
    """The size of each data cache of the first core; empty if it is not shown."""
    return {
        f"L{cache['level']}_bytes": cache["size_bytes"]
        for cache in announced()
        if cache["level"] and cache["size_bytes"]
    }


def announced() -> list[dict[str, int]]:
    """Level, size, line and ways of each data cache, nearest first; 0 if not reported.

    The system's own words: they are only shown beside what is measured.
    """
    files = {
        "level": "level",
        "size_bytes": "size",
        "line_bytes": "coherency_line_size",
        "ways": "ways_of_associativity",
    }
    caches = [
        {name: _number(index / file) for name, file in files.items()}
        for index in sorted((CPU / "cache").glob("index*"))
        if text_in(index / "type") != "Instruction"
    ]
    return sorted(caches, key=lambda cache: cache["level"])


def _number(path: Path) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text_in(path))
    return int(match[1]) * _UNITS[match[2]] if match else 0


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _processor() -> str:
    for line in text_in(PROCESSORS).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _container() -> bool:
    """Whether the usual signs of a container are present."""
    signs = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    return signs or "container" in os.environ
