# SPDX-License-Identifier: Apache-2.0
"""Which cores of this host are close together, according to the kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

SYSFS = Path("/sys/devices/system/cpu")


def parse_cpu_list(text: str) -> list[int]:
    """The numbers in the kernel's form '0-3,8'; what is not a number is passed over."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            cpus += range(int(first), int(last or first) + 1)
    return cpus


def last_level_caches(allowed: Iterable[int], sysfs: Path = SYSFS) -> list[list[int]]:
    """The allowed cores by the last-level cache they share, each group in order.

    Only one hardware thread per core: two ranks on one core are not a valid placement.
    A core of which nothing is known is its own group.
    """
    groups: dict[str, list[int]] = {}
    seen: set[int] = set()
    for cpu in sorted(allowed):
        folder = sysfs / f"cpu{cpu}"
        siblings = parse_cpu_list(_read(folder / "topology" / "thread_siblings_list")) or [cpu]
        if seen.intersection(siblings):
            continue
        seen.add(cpu)
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
