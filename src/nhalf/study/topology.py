# SPDX-License-Identifier: Apache-2.0
"""Which cores of this host lie close together, as the kernel tells it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from nhalf.errors import MissingError, unknown

SYSFS = Path("/sys/devices/system/cpu")
PLACEMENTS = {
    "cores": "every rank on a core of its own, as the launcher chooses",
    "free": "ranks move as the system likes",
    "same-cache": "ranks on cores that share their last-level cache (one core complex)",
    "same-node": "ranks on one host, on cores that share no cache",
    "other-node": "neighbouring ranks on different hosts",
}


def parse_cpu_list(text: str) -> list[int]:
    """The numbers in the kernel's form '0-3,8'; what is no number is passed over."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            cpus += range(int(first), int(last or first) + 1)
    return cpus


def last_level_caches(allowed: Iterable[int], sysfs: Path = SYSFS) -> list[list[int]]:
    """The allowed cores by the last-level cache they share, each group in order.

    One core of every pair of hardware threads only: two ranks on one core are no placement.
    A core of which nothing is known is a group of its own.
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


def cores_for(placement: str, ranks: int, caches: Sequence[Sequence[int]]) -> list[int]:
    """The core of each local rank; empty where the launcher decides.

    `caches` is the result of `last_level_caches`. Raises MissingError where this machine cannot
    give such a placement, InputError for an unknown name.
    """
    if placement in ("cores", "free"):
        return []
    if placement == "same-cache":
        largest = max(caches, key=len, default=[])
        if len(largest) < ranks:
            raise MissingError(
                f"no {ranks} cores share a last-level cache here: {len(largest)} at most do",
                "use fewer ranks, or another --placement",
            )
        return list(largest[:ranks])
    if placement == "same-node":
        if len(caches) < ranks:
            raise MissingError(
                f"there are no {ranks} cores here that share no cache: there "
                f"{'is one cache' if len(caches) == 1 else f'are {len(caches)} caches'}",
                "use --placement same-cache or cores",
            )
        return [group[0] for group in caches[:ranks]]
    if placement == "other-node":
        raise MissingError(
            "there is one host only: other-node needs several",
            "run inside an allocation of several hosts",
        )
    raise unknown("placement", placement, PLACEMENTS)


def allowed_cpus() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
