"""Resources that the ranks of a simulated node share, as links that their messages pass.

A range counts as the geometric mean of its ends.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.machines.machine import Machine
from nhalf.machines.shared import Shared, middle

WIDE = 1e15
"""Bytes per second of a resource without a known limit."""
RANKS_MAX = 128
"""Most ranks of a node that are distinguished: there is a route for every pair of them."""
BOTH = 2.0
"""Ratio of both directions to one, if they do not slow each other down."""


@dataclass(frozen=True)
class Share:
    """A limit on the joint rates of consecutive ranks of a node (0 ranks: all; rate 0: unlimited).

    If `away`, the limit applies to messages between nodes only.
    """

    ranks: int
    away: bool
    one_way_Bps: float = 0.0
    both_ways_Bps: float = 0.0

    @property
    def line(self) -> str:
        """The line that the simulator reads."""
        return (
            f"share ranks={self.ranks} away={int(self.away)} "
            f"one_way_Bps={self.one_way_Bps!r} both_ways_Bps={self.both_ways_Bps!r}"
        )


def hosts_per_node(machine: Machine) -> int:
    """Return the number of distinguished ranks of a node; 1 if their number is unknown."""
    ranks = machine.node.ranks if machine.node else 1
    return ranks if ranks <= RANKS_MAX else 1


def medium_Bps(machine: Machine, between_Bps: float) -> float:
    """Return the rate of a wire common to all nodes; 0 if there is none."""
    rates_Bps = [
        max(middle(resource.both_ways_Bps), between_Bps)
        for resource in machine.shared
        if resource.what == "medium" and resource.both_ways_Bps is not None
    ]
    return min(rates_Bps, default=0.0)


def shares(machine: Machine, within_Bps: float, between_Bps: float) -> list[Share]:
    """Return all shares: those of ranks, of a machine file, and of adapters slower than a link.

    A message without contention is as fast as its curve: no share is narrower than the fastest
    messages within a node and between nodes.
    """
    node_shares = list(_of_ranks(machine, within_Bps, between_Bps))
    adapter_Bps = machine.network.adapter_Bps if machine.network else None
    if adapter_Bps:
        node_shares.append(Share(0, True, max(adapter_Bps, between_Bps)))
    for resource in machine.shared:
        if resource.what in ("adapter", "bus"):
            node_shares.append(_share(resource, True, between_Bps, between_Bps))
        if resource.what == "memory":
            most_Bps = max(within_Bps, between_Bps)
            node_shares.append(_share(resource, False, most_Bps, max(2 * within_Bps, between_Bps)))
    return [share for share in node_shares if share.one_way_Bps or share.both_ways_Bps]


def narrower(node_shares: Sequence[Share], link_Bps: float, hosts: int) -> list[Share]:
    """Return the shares that limit more than the link of a node does."""
    return [
        share
        for share in node_shares
        if share.both_ways_Bps
        or share.one_way_Bps < link_Bps
        or (hosts > 1 and (share.ranks or not share.away))
    ]


def alone_Bps(node_shares: Sequence[Share], away: bool) -> float:
    """Return the rate of one message through all shares that it passes."""
    rates = [WIDE]
    for share in node_shares:
        if away or not share.away:
            rates += [share.one_way_Bps] if share.one_way_Bps else []
            twice = 1 if away or share.ranks == 1 else 2
            rates += [share.both_ways_Bps / twice] if share.both_ways_Bps else []
    return min(rates)


def _share(resource: Shared, away: bool, one_way_Bps: float, both_ways_Bps: float) -> Share:
    """Convert a shared resource, with rates of at least those of one message."""
    return Share(
        resource.ranks or 0,
        away,
        max(middle(resource.one_way_Bps), one_way_Bps) if resource.one_way_Bps else 0.0,
        max(middle(resource.both_ways_Bps), both_ways_Bps) if resource.both_ways_Bps else 0.0,
    )


def _of_ranks(machine: Machine, within_Bps: float, between_Bps: float) -> Iterator[Share]:
    """Yield the shares of ranks, whose one processor limits the sum of their messages.

    One direction has the rate of a ping-pong, both directions a multiple of it.
    """
    if machine.node is None:
        return
    ratio = _ratio(machine)
    told_apart = hosts_per_node(machine) == machine.node.ranks
    ranks, together = (1, 1) if told_apart else (0, machine.node.ranks)
    for away, one_Bps in ((False, max(within_Bps, between_Bps)), (True, between_Bps)):
        if away and between_Bps >= within_Bps:
            return
        both_Bps = together * one_Bps * max(1.0, ratio) if ratio < BOTH else 0.0
        yield Share(ranks, away, together * one_Bps if ratio > 1 else 0.0, both_Bps)


def _ratio(machine: Machine) -> float:
    ratios = [
        middle(resource.both_ways_ratio) for resource in machine.shared if resource.both_ways_ratio
    ]
    return min(ratios, default=BOTH)
