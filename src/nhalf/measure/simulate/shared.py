# SPDX-License-Identifier: Apache-2.0
"""What the ranks of a simulated node share, as links that their messages pass; ranges at their
middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.machines.machine import Machine
from nhalf.machines.shared import Shared, middle

WIDE = 1e15
"""Bytes per second of what nothing is known to narrow."""
RANKS_MAX = 128
"""On a node whose ranks are distinguished: there is a route for every two of them."""
BOTH = 2.0
"""Times what a rank does in one direction, where neither minds the other."""


@dataclass(frozen=True)
class Share:
    """This many consecutive ranks of a node (0: all) move no more together; rates of 0: unbounded.

    `away`: with messages between nodes only.
    """

    ranks: int
    away: bool
    one_way_Bps: float = 0.0
    both_ways_Bps: float = 0.0

    @property
    def line(self) -> str:
        """As the simulator reads it."""
        return (
            f"share ranks={self.ranks} away={int(self.away)} "
            f"one_way_Bps={self.one_way_Bps!r} both_ways_Bps={self.both_ways_Bps!r}"
        )


def hosts_per_node(machine: Machine) -> int:
    """The ranks of a node that are distinguished; 1 if it is unknown how many there are."""
    ranks = machine.node.ranks if machine.node else 1
    return ranks if ranks <= RANKS_MAX else 1


def medium_Bps(machine: Machine, between_Bps: float) -> float:
    """What the wire moves that all nodes have in common, 0 if there is none."""
    found = [
        max(middle(each.both_ways_Bps), between_Bps)
        for each in machine.shared
        if each.what == "medium" and each.both_ways_Bps is not None
    ]
    return min(found, default=0.0)


def shares(machine: Machine, within_Bps: float, between_Bps: float) -> list[Share]:
    """All of them: those of ranks, those of a machine file, and adapters narrower than a link.

    A message alone is as fast as its curve, whatever it passes: no share is narrower than the
    fastest messages within a node and between nodes.
    """
    found = list(_of_ranks(machine, within_Bps, between_Bps))
    adapter_Bps = machine.network.adapter_Bps if machine.network else None
    if adapter_Bps:
        found.append(Share(0, True, max(adapter_Bps, between_Bps)))
    for each in machine.shared:
        if each.what in ("adapter", "bus"):
            found.append(_share(each, True, between_Bps, between_Bps))
        if each.what == "memory":
            most_Bps = max(within_Bps, between_Bps)
            found.append(_share(each, False, most_Bps, max(2 * within_Bps, between_Bps)))
    return [each for each in found if each.one_way_Bps or each.both_ways_Bps]


def narrower(found: Sequence[Share], link_Bps: float, hosts: int) -> list[Share]:
    """Without what the link of a node bounds as well."""
    return [
        each
        for each in found
        if each.both_ways_Bps
        or each.one_way_Bps < link_Bps
        or (hosts > 1 and (each.ranks or not each.away))
    ]


def alone_Bps(found: Sequence[Share], away: bool) -> float:
    """What one message may have of all shares that it passes."""
    rates = [WIDE]
    for each in found:
        if away or not each.away:
            rates += [each.one_way_Bps] if each.one_way_Bps else []
            twice = 1 if away or each.ranks == 1 else 2
            rates += [each.both_ways_Bps / twice] if each.both_ways_Bps else []
    return min(rates)


def _share(each: Shared, away: bool, one_way_Bps: float, both_ways_Bps: float) -> Share:
    """With rates of at least those of one message."""
    return Share(
        each.ranks or 0,
        away,
        max(middle(each.one_way_Bps), one_way_Bps) if each.one_way_Bps else 0.0,
        max(middle(each.both_ways_Bps), both_ways_Bps) if each.both_ways_Bps else 0.0,
    )


def _of_ranks(machine: Machine, within_Bps: float, between_Bps: float) -> Iterator[Share]:
    """A rank with several messages under way still has one processor, which moves what it does in
    a ping-pong; and both ways this many times as much.
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
    found = [middle(each.both_ways_ratio) for each in machine.shared if each.both_ways_ratio]
    return min(found, default=BOTH)
