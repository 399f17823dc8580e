"""The cores of this host that share caches, according to the kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

SYSFS = Path("/sys/devices/system/cpu")


def parse_cpu_list(text: str) -> list[int]:
    """The numbers in the kernel's form '0-3,8'; anything else is ignored."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            cpus += range(int(first), int(last or first) + 1)
    return cpus


def last_level_caches(allowed: Iterable[int], sysfs: Path = SYSFS) -> list[list[int]]:
    """The allowed cores by the last-level cache they share, each group in order.

    Each core counts with one hardware thread: two ranks on one core are not a valid placement.
    A core with unknown caches is its own group.
    """
    groups: dict[str, list[int]] = {}
    used_cpus: set[int] = set()
    for cpu in sorted(allowed):
        folder = sysfs / f"cpu{cpu}"
        siblings = parse_cpu_list(_read(folder / "topology" / "thread_siblings_list")) or [cpu]
        if used_cpus.intersection(siblings):
            continue
        used_cpus.add(cpu)
        caches = sorted(
            folder.glob("cache/index*"), key=lambda index: int(_read(index / "level") or 0)
        )
        shared = _read(caches[-1] / "shared_cpu_list") if caches else ""
        groups.setdefault(shared or f"core {cpu}", []).append(cpu)
    return list(groups.values())


def allowed_cpus() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
