# SPDX-License-Identifier: Apache-2.0
"""Where ranks can be asked to be, and whether they are there, from what each of them reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nhalf.errors import unknown

CORES, FREE = "cores", "free"


def placements() -> tuple[str, ...]:
    """Every placement that can be asked for."""
    return (CORES, FREE)


def check_placement(name: str) -> str:
    """The name itself; raises InputError for one that is not known."""
    if name not in placements():
        raise unknown("placement", name, placements())
    return name


def placement_advice(placement: Sequence[dict[str, Any]]) -> list[str]:
    """Doubts about where ranks are, from what each rank says of itself.

    'unpinned' where a rank may move between cores, 'oversubscribed' where two ranks of one host
    have one core only, or ranks outnumber the cores they may use.
    """
    cores: dict[str, set[int]] = {}
    ranks: Counter[str] = Counter()
    for rank in placement:
        cores.setdefault(rank["host"], set()).update(rank["allowed_cpus"])
        ranks[rank["host"]] += 1
    advice = []
    if any(len(rank["allowed_cpus"]) != 1 for rank in placement):
        advice.append("unpinned")
    if any(ranks[host] > len(cores[host]) for host in ranks):
        advice.append("oversubscribed")
    return advice
