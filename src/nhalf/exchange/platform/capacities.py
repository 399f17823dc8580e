# SPDX-License-Identifier: Apache-2.0
"""What a node, and all nodes, move together, in SimGrid's words: its bandwidths are multiplied with
the factor of each message, so that a capacity is what messages of the last piece share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.carrier import carrier
from nhalf.base.units import format_rate
from nhalf.exchange.platform.costs import Cost
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import curves_by_distance
from nhalf.machines.pieces import fastest_Bps
from nhalf.measure.simulate.shared import Share, medium_Bps, shares


@dataclass(frozen=True)
class Capacities:
    """Bytes per second, infinite where nothing is known to bound them.

    Of a node each way and both together, of its messages to itself, and of a wire that all nodes
    have in common.
    """

    one_way_Bps: float
    both_ways_Bps: float
    within_Bps: float
    medium_Bps: float

    @property
    def words(self) -> list[str]:
        """What is shared, in comments of the platform."""
        lines = []
        if math.isfinite(self.both_ways_Bps):
            lines.append(
                f"A node sends and receives {format_rate(self.both_ways_Bps)} together, whatever "
                "its ranks, adapter, bus or memory"
            )
            lines.append("bound, of messages of the last factor; shorter ones share less.")
        if math.isfinite(self.medium_Bps):
            lines.append(f"All nodes share one wire of {format_rate(self.medium_Bps)}.")
        return lines


def capacities(machine: Machine, model: FittedModel) -> Capacities:
    """Of a machine whose messages have this curve; what a rank does is taken for its whole node."""
    within = fastest_Bps(curves_by_distance(machine, carrier(model.mpi, model.transport))[0])
    found = shares(machine, within, fastest_Bps(model))
    ranks = machine.node.ranks if machine.node else 1
    wire_Bps = medium_Bps(machine, fastest_Bps(model))
    memory_Bps = machine.node.memory_Bps if machine.node else None
    stays = [each for each in found if not each.away]
    return Capacities(
        _least(found, ranks, "one_way_Bps"),
        _least(found, ranks, "both_ways_Bps"),
        min(
            _least(stays, ranks, "one_way_Bps"),
            _least(stays, ranks, "both_ways_Bps") / 2,
            memory_Bps or math.inf,
        ),
        wire_Bps or math.inf,
    )


def _least(found: Sequence[Share], ranks: int, name: str) -> float:
    """The least of what a node moves in all; shares of some of its ranks count for all of them."""
    rates = [getattr(each, name) * ranks / (each.ranks or ranks) for each in found]
    return min((rate for rate in rates if rate), default=math.inf)


def bandwidth(capacity_Bps: float, costs: Sequence[Cost], fastest: float) -> float:
    """The bandwidth of a link that moves so much of the last messages, and no less of one alone.

    `fastest` is the bandwidth that the factors are multiplied with.
    """
    return max(fastest, capacity_Bps * costs[-1].piece.per_byte_s * fastest)
