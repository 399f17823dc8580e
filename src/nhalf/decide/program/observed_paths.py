# SPDX-License-Identifier: Apache-2.0
"""The messages of operations, by what the operations of a trace took.

An operation whose usual messages (operation_paths.py) would take half of the time that it took has
twice as many, within what algorithms of use have.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from nhalf.decide.program.costs import Costs
from nhalf.decide.program.excess import Excess
from nhalf.decide.program.operation_paths import (
    Path,
    Paths,
    fewest_path,
    most_path,
    usual_path,
)
from nhalf.facts.program.operations import TO_ROOT, operation
from nhalf.facts.program.schedule import COLLECTIVE
from nhalf.facts.program.script import Script

_Kind = tuple[str, int, int]
"""A call, its ranks, and what one puts in."""


def observed_paths(script: Script, costs: Costs, excess: Excess) -> Paths:
    """The usual paths, each times a ratio for its kind of operation."""
    ratios = {kind: median(some) for kind, some in _ratios(script, costs, excess).items()}

    def path(call: str, ranks: int, size_bytes: int) -> Path:
        usual = usual_path(call, ranks, size_bytes)
        ratio = ratios.get((call, ranks, size_bytes), 1.0)
        fewest, most = (of(call, ranks, size_bytes) for of in (fewest_path, most_path))
        return Path(
            min(max(ratio * usual.messages, fewest.messages), most.messages),
            min(max(ratio * usual.bytes, fewest.bytes), most.bytes),
        )

    return path


def _ratios(script: Script, costs: Costs, excess: Excess) -> dict[_Kind, list[float]]:
    """What each operation of a kind took, over what its usual messages take."""
    ratios: dict[_Kind, list[float]] = defaultdict(list)
    for actor in script.actors:
        for place in actor.places_of(COLLECTIVE):
            key, call = actor.operation[place], actor.form_at(place).call
            more_s = excess.operations_s.get((key, actor.rank))
            only_sends = operation(call) in TO_ROOT and actor.partner[place] != actor.rank
            if more_s is None or only_sends:
                continue
            members, size_bytes = (
                script.gatherings[key].members,
                script.gatherings[key].blocks_bytes,
            )
            took_s = costs.collective_s(call, members, size_bytes) + more_s
            usual = usual_path(call, len(members), size_bytes)
            if usual.messages <= 0:
                continue
            each_bytes = round(usual.bytes / usual.messages)
            usual_s = usual.messages * costs.message_s(members[0], members[-1], each_bytes)
            if usual_s > 0:
                ratios[call, len(members), size_bytes].append(max(0.0, took_s / usual_s))
    return ratios
