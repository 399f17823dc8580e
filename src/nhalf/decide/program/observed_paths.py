"""The messages of operations, by what the operations of a trace took.

Of the algorithms of use (operation_paths.py) an operation has the one that takes nearest to what it
took. If that would take half of it, it has twice as many messages, within what algorithms of use
have.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

import numpy as np

from nhalf.decide.program.contention import Contention
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.operation_paths import (
    Path,
    Paths,
    fewest_path,
    known_paths,
    most_path,
)
from nhalf.facts.program.script import Role, Script

_Kind = tuple[str, int, int]
"""A call, its ranks, and what one puts in."""


def observed_paths(script: Script, costs: Costs, contention: Contention) -> Paths:
    """For each kind of operation the nearest path, times the ratio of what it took."""
    nearest = {
        kind: _nearest(ratios) for kind, ratios in _ratios(script, costs, contention).items()
    }

    def path(call: str, ranks: int, size_bytes: int) -> Path:
        place, ratio = nearest.get((call, ranks, size_bytes), (0, 1.0))
        nearest_path = known_paths(call, ranks, size_bytes)[place]
        fewest, most = (of(call, ranks, size_bytes) for of in (fewest_path, most_path))
        return Path(
            min(max(ratio * nearest_path.messages, fewest.messages), most.messages),
            min(max(ratio * nearest_path.bytes, fewest.bytes), most.bytes),
        )

    return path


def _nearest(ratios: Sequence[Sequence[float]]) -> tuple[int, float]:
    """The place of the path whose median ratio is nearest to one, and that ratio."""
    medians = [median(of_path) for of_path in zip(*ratios, strict=True)]
    place = min(range(len(medians)), key=lambda index: abs(_log(medians[index])))
    return place, medians[place]


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf


def _ratios(script: Script, costs: Costs, contention: Contention) -> dict[_Kind, list[list[float]]]:
    """What each operation of a kind took, over what each of the known paths takes."""
    ratios: dict[_Kind, list[list[float]]] = defaultdict(list)
    times_s: dict[tuple[_Kind, int, int], list[float]] = {}
    parts = script.parts
    is_known = np.isfinite(contention.operations_s) & (parts.role != Role.NOBODY)
    for part in np.flatnonzero(is_known).tolist():
        call, members, size_bytes = parts.works[parts.work[part]]
        more_s = float(contention.operations_s[part])
        took_s = max(0.0, costs.collective_s(call, members, size_bytes) + more_s)
        kind, ends = (call, len(members), size_bytes), (members[0], members[-1])
        known_s = times_s.get((kind, *ends))
        if known_s is None:
            known_s = [_path_s(path, *ends, costs) for path in known_paths(*kind)]
            times_s[kind, *ends] = known_s
        if min(known_s) > 0:
            ratios[kind].append([took_s / path_s for path_s in known_s])
    return ratios


def _path_s(path: Path, source: int, target: int, costs: Costs) -> float:
    """What the messages of a path take one after the other."""
    if path.messages <= 0:
        return 0.0
    each_bytes = round(path.bytes / path.messages)
    return path.messages * costs.message_s(source, target, each_bytes)
