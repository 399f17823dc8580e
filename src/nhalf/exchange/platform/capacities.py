"""The capacities of a node and of all nodes together, in SimGrid's terms.

SimGrid multiplies bandwidths with the factor of each message, so that a capacity is shared by
messages of the last piece.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.carrier import carrier
from nhalf.base.units import format_rate
from nhalf.exchange.platform.costs import Cost
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Messages
from nhalf.machines.node_shares import Share, medium_Bps, shares
from nhalf.machines.pieces import fastest_Bps


@dataclass(frozen=True)
class Capacities:
    """Capacities in bytes per second, infinite if no bound is known.

    They are those of a node in one direction and in both together, of its internal messages, and
    of a wire shared by all nodes.
    """

    one_way_Bps: float
    both_ways_Bps: float
    within_Bps: float
    medium_Bps: float

    @property
    def words(self) -> list[str]:
        """The shared capacities in comments of the platform."""
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
    """The capacities of a machine whose messages have this curve."""
    within = fastest_Bps(Messages(machine, carrier(model.mpi, model.transport)).within_node)
    node_shares = shares(machine, within, fastest_Bps(model))
    ranks = machine.node.ranks if machine.node else 1
    wire_Bps = medium_Bps(machine, fastest_Bps(model))
    memory_Bps = machine.node.memory_Bps if machine.node else None
    stays = [share for share in node_shares if not share.away]
    return Capacities(
        _least(node_shares, ranks, "one_way_Bps"),
        _least(node_shares, ranks, "both_ways_Bps"),
        min(
            _least(stays, ranks, "one_way_Bps"),
            _least(stays, ranks, "both_ways_Bps") / 2,
            memory_Bps or math.inf,
        ),
        wire_Bps or math.inf,
    )


def _least(node_shares: Sequence[Share], ranks: int, name: str) -> float:
    """The least capacity of a node; shares of some of its ranks are scaled to all of them."""
    rates = [getattr(share, name) * ranks / (share.ranks or ranks) for share in node_shares]
    return min((rate for rate in rates if rate), default=math.inf)


def bandwidth(capacity_Bps: float, costs: Sequence[Cost], fastest: float) -> float:
    """The bandwidth of a link with this capacity for messages of the last piece.

    It is at least `fastest`, the bandwidth that the factors are multiplied with.
    """
    return max(fastest, capacity_Bps * costs[-1].piece.per_byte_s * fastest)
