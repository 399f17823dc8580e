"""Placements of ranks and of their threads, and checks of the placement that ranks report."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nhalf.base.errors import MissingError, unknown
from nhalf.base.files import text_in
from nhalf.machines.layout import Layout, parse_layout
from nhalf.sites.hosts import short_name

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
        siblings = parse_cpu_list(text_in(folder / "topology" / "thread_siblings_list")) or [cpu]
        if used_cpus.intersection(siblings):
            continue
        used_cpus.add(cpu)
        caches = sorted(
            folder.glob("cache/index*"), key=lambda index: int(text_in(index / "level") or 0)
        )
        shared = text_in(caches[-1] / "shared_cpu_list") if caches else ""
        groups.setdefault(shared or f"core {cpu}", []).append(cpu)
    return list(groups.values())


def allowed_cpus() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0)


OPENMP = "OpenMP"
"""The programming model, as programs name it."""


def bound_threads(threads: int, cpus: Sequence[int] = ()) -> dict[str, str]:
    """Variables that bind each thread to its own core: one of `cpus`, or any available core.

    Empty if there are fewer cores than threads, or if this process's environment already places
    threads. The variables are those of OpenMP 5.2, sections 21.1.5 and 21.1.6.
    """
    places = cpus or [cpu for group in last_level_caches(allowed_cpus()) for cpu in group]
    if threads > len(places) or "OMP_PROC_BIND" in os.environ or "OMP_PLACES" in os.environ:
        return {}
    return {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in places)}


CORES, FREE = "cores", "free"
SAME_CACHE, SAME_NODE, OTHER_NODE = "same-cache", "same-node", "other-node"
ONE_HOST = (SAME_CACHE, SAME_NODE)
EVERY_HOST, WHOLE_HOST = "every-host", "whole-host"
PLACEMENTS = {
    CORES: "every rank on its own core, as the launcher chooses",
    FREE: "ranks move as the system decides",
    SAME_CACHE: "ranks on cores that share their last-level cache (one core complex)",
    SAME_NODE: "ranks on one host, on cores that share no cache",
    OTHER_NODE: "neighbouring ranks on different hosts",
    EVERY_HOST: "one rank on every available host",
    WHOLE_HOST: "a rank on every core of one host",
    "4x2": "four hosts with two ranks each, in blocks; any numbers, 4x2:cyclic deals ranks out, "
    "and 4x2+1 puts one more on a fifth",
}
"""Descriptions of the placements by name."""


@dataclass(frozen=True)
class Placement:
    """A placement whose text has been parsed; `layout` is None unless it is one such as 4x2."""

    text: str
    layout: Layout | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a text, which may be unknown. Raises InputError for an impossible layout."""
        return cls(text, parse_layout(text))

    def check(self) -> Self:
        """Return the placement; raises InputError if it is unknown."""
        if self.layout is None and self.text not in PLACEMENTS:
            raise unknown("placement", self.text, PLACEMENTS)
        return self

    def fits(self, ranks: int) -> bool:
        """Whether it can have this many ranks: a layout has its own number."""
        return self.layout is None or self.layout.ranks == ranks

    @property
    def hosts(self) -> int:
        """The number of hosts that it needs."""
        if self.layout:
            return self.layout.hosts
        return 2 if self.text == OTHER_NODE else 1


def cores_for(placement: str, ranks: int, caches: Sequence[Sequence[int]]) -> list[int]:
    """The core of each local rank; empty if the launcher decides.

    `caches` is the result of `last_level_caches`. Raises MissingError if this machine cannot
    give such a placement, InputError for an unknown name.
    """
    if placement not in ONE_HOST:
        return []
    if placement == SAME_CACHE:
        largest = max(caches, key=len, default=[])
        if len(largest) < ranks:
            message = f"no {ranks} cores share a last-level cache here: at most {len(largest)} do"
            raise MissingError(message, "use fewer ranks, or another --placement")
        return list(largest[:ranks])
    if len(caches) < ranks:
        raise MissingError(
            f"there are no {ranks} cores here that share no cache: there "
            f"{'is one cache' if len(caches) == 1 else f'are {len(caches)} caches'}",
            "use --placement same-cache or cores",
        )
    return [group[0] for group in caches[:ranks]]


def placement_advice(
    placement: Sequence[dict[str, Any]],
    requested: str = CORES,
    hosts: Sequence[str] = (),
    shares_cores: bool = False,
) -> list[str]:
    """Warnings about the placement of ranks, from the report of each rank.

    `hosts` are the names of the requested hosts by rank; none if any host will do. 'unpinned' if a
    rank may move between cores although that was not requested, 'oversubscribed' if two ranks of
    one host have only one core, or ranks outnumber the cores they may use, 'misplaced' if ranks are
    not on the requested hosts and cores, 'shared-cores' if hosts share the cores of one machine,
    'mixed-networks' if some ranks use a different network from others, 'slow-network' if a fast
    network exists but is not used.
    """
    cores: dict[str, set[int]] = {}
    ranks: Counter[str] = Counter()
    for rank in placement:
        cores.setdefault(rank["host"], set()).update(rank["allowed_cpus"])
        ranks[rank["host"]] += 1
    unbound = any(len(rank["allowed_cpus"]) != 1 for rank in placement)
    misplaced = requested in ONE_HOST and any(
        set(requested_cores(requested, count)) != cores[host] for host, count in ranks.items()
    )
    actual_hosts = [short_name(rank["host"]) for rank in placement]
    warnings = {
        "unpinned": unbound and requested != FREE and not shares_cores,
        "oversubscribed": any(ranks[host] > len(cores[host]) for host in ranks),
        "misplaced": misplaced
        or (bool(hosts) and actual_hosts != [short_name(host) for host in hosts]),
        "shared-cores": shares_cores and len(ranks) > 1,
        **_network_warnings(placement, several=len(ranks) > 1),
    }
    return [name for name, is_so in warnings.items() if is_so]


def _network_warnings(placement: Sequence[dict[str, Any]], *, several: bool) -> dict[str, bool]:
    """Warnings about the networks between ranks of different hosts."""
    used = [frozenset(rank.get("networks", ())) for rank in placement]
    fast = any(rank.get("fabrics") for rank in placement)
    talking = {networks for networks in used if networks}
    uses_fabric = any(
        networks.intersection(rank.get("fabrics", ()))
        for networks, rank in zip(used, placement, strict=True)
    )
    return {
        "mixed-networks": several and len(talking) > 1 and not frozenset.intersection(*talking),
        "slow-network": several and fast and any(talking) and not uses_fabric,
    }


def requested_cores(placement: str, ranks: int) -> list[int]:
    """The core of each local rank on this machine; empty if the launcher decides.

    Raises MissingError if this machine cannot give such a placement.
    """
    if placement not in ONE_HOST:
        return []
    return cores_for(placement, ranks, last_level_caches(allowed_cpus()))
