"""What was simulated for the gallery (docs/gallery/*.json) beside what was published.

Published numbers come from the machines of record, so none is written down twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nhalf.machines import catalogue
from nhalf.machines.machine import Machine, PatternModel

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "gallery"
MACHINES = (
    *("sp1-mpl", "sp2-mpl", "sp2-ip", "sp2-pvme", "spp1000-pvm", "pentiumpro-ethernet"),
    *("sci-torus", "gige-pair", "sunfire-link", "sunfire-15k", "myrinet-gm", "poweredge-6650"),
    *("altix-bx2", "x1-ssp", "x1-msp", "opteron-myrinet", "poweredge-ib"),
)
"""In the order of their years."""
Kept = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One published time and the simulated one, in seconds, and what was timed."""

    study: str
    machine: str
    pattern: str
    ranks: int
    size_bytes: int
    placement: str
    simulated_s: float
    published_s: float
    source: str

    @property
    def error(self) -> float:
        """By which part of the published time the simulated one is longer."""
        return self.simulated_s / self.published_s - 1


@cache
def kept(name: str) -> Kept:
    """The results of a simulation by its name."""
    content: Kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content


def names(study: str) -> list[str]:
    """The simulations of a study whose results are kept."""
    found = [path.stem for path in FOLDER.glob(f"{study}-*.json")]
    return sorted(found, key=lambda name: (MACHINES.index(kept(name)["machine"]), name))


@cache
def comparisons(study: str) -> list[Comparison]:
    """All published times of a study that have a simulated one, in the order of the tables."""
    found = []
    for name in names(study):
        machine = catalogue.machine(kept(name)["machine"])
        for group in spread(kept(name)["groups"]):
            published = published_time(machine, group)
            if published is not None:
                point = (group["pattern"], group["ranks"], group["bytes"], group["placement"])
                times = (group["time_s"][0], *published)
                found.append(Comparison(study, machine.name, *point, *times))
    return found


def spread(groups: Iterable[Kept]) -> Iterator[Kept]:
    """Of points that were simulated at several placements, the one on most nodes."""
    chosen: dict[tuple[Any, ...], Kept] = {}
    for group in groups:
        key = (group["pattern"], group["ranks"], group["bytes"])
        if key not in chosen or nodes(group["placement"]) > nodes(chosen[key]["placement"]):
            chosen[key] = group
    return iter(chosen.values())


def nodes(placement: str) -> int:
    """How many a placement such as 4x2 takes; 1 for those that are named."""
    return int(placement.split("x", maxsplit=1)[0]) if "x" in placement else 1


def is_one_node(placement: str) -> bool:
    """Whether a placement is within one node; `other-node` is not."""
    return nodes(placement) == 1 and placement != "other-node"


def where(placement: str) -> str:
    """A placement in words."""
    found = 2 if placement == "other-node" else nodes(placement)
    return f"{found} nodes" if found > 1 else "one node"


def published_time(machine: Machine, group: Kept) -> tuple[float, str] | None:
    """The time of a record and its source: a formula that covers the point, or a single figure."""
    covering = [
        model
        for model in machine.patterns
        if model.pattern == group["pattern"] and model.covers(group["bytes"], group["ranks"])
    ]
    if covering:
        model = max(covering, key=timed_as_a_whole)
        return model.time_s(group["bytes"], group["ranks"]), model.source
    other = "other-node" if is_one_node(group["placement"]) else "same-node"
    for point in machine.points:
        same = point.pattern == group["pattern"] and point.ranks == group["ranks"]
        if not same or point.placement == other:
            continue
        if point.time_s is not None and (point.size_bytes or 0) == group["bytes"]:
            return point.time_s, point.source
        # A rate without a size is that of the longest message.
        if point.rate_Bps is not None and point.size_bytes is None and group["bytes"] > 1:
            return group["bytes"] / point.rate_Bps, point.source
    return None


def timed_as_a_whole(model: PatternModel) -> bool:
    """Whether a formula is of what a library's call takes, which is what nhalf times."""
    return "as a whole" in model.what
