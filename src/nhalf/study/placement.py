# SPDX-License-Identifier: Apache-2.0
"""Where ranks can be asked to be, and whether they are there, from what each of them reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nhalf.errors import MissingError, unknown
from nhalf.study.topology import allowed_cpus, last_level_caches

CORES, FREE = "cores", "free"
PLACEMENTS = {
    CORES: "every rank on a core of its own, as the launcher chooses",
    FREE: "ranks move as the system likes",
    "same-cache": "ranks on cores that share their last-level cache (one core complex)",
    "same-node": "ranks on one host, on cores that share no cache",
    "other-node": "neighbouring ranks on different hosts",
}


"""Every placement that can be asked for, in words."""


def check_placement(name: str) -> str:
    """The name itself; raises InputError for one that is not known."""
    if name not in PLACEMENTS:
        raise unknown("placement", name, PLACEMENTS)
    return name


def cores_for(placement: str, ranks: int, caches: Sequence[Sequence[int]]) -> list[int]:
    """The core of each local rank; empty where the launcher decides.

    `caches` is the result of `last_level_caches`. Raises MissingError where this machine cannot
    give such a placement, InputError for an unknown name.
    """
    if placement in (CORES, FREE):
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


def placement_advice(placement: Sequence[dict[str, Any]], asked: str = CORES) -> list[str]:
    """Doubts about where ranks are, from what each rank says of itself.

    'unpinned' where a rank may move between cores though that was not asked for, 'oversubscribed'
    where two ranks of one host have one core only, or ranks outnumber the cores they may use,
    'misplaced' where ranks are not on the cores that the placement asked for.
    """
    cores: dict[str, set[int]] = {}
    ranks: Counter[str] = Counter()
    for rank in placement:
        cores.setdefault(rank["host"], set()).update(rank["allowed_cpus"])
        ranks[rank["host"]] += 1
    advice = []
    if asked != FREE and any(len(rank["allowed_cpus"]) != 1 for rank in placement):
        advice.append("unpinned")
    if any(ranks[host] > len(cores[host]) for host in ranks):
        advice.append("oversubscribed")
    if asked not in (CORES, FREE) and _misplaced(asked, ranks, cores):
        advice.append("misplaced")
    return advice


def asked_cores(placement: str, ranks: int) -> list[int]:
    """The core of each local rank on this machine; empty where the launcher decides.

    Raises MissingError where this machine cannot give such a placement.
    """
    if placement in (CORES, FREE):
        return []
    return cores_for(placement, ranks, last_level_caches(allowed_cpus()))


def _misplaced(asked: str, ranks: Counter[str], cores: dict[str, set[int]]) -> bool:
    return any(set(asked_cores(asked, count)) != cores[host] for host, count in ranks.items())
