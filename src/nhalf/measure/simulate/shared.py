# SPDX-License-Identifier: Apache-2.0
"""What the ranks of a simulated node share, as one rate within it.

The simulator knows nodes and not ranks: what a rank moves both ways is taken for all ranks of its
node together, and a range at its middle.
"""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.pieces import fastest_Bps
from nhalf.machines.shared import middle

WIDE = 1e15
"""Bytes per second of what nothing is known to narrow."""


def within_Bps(machine: Machine, within: FittedModel) -> float:
    """What messages within a node move; each is there where it leaves and where it arrives."""
    rates = [
        middle(each.both_ways_Bps) * _ranks(machine) / (each.ranks or _ranks(machine)) / 2
        for each in machine.shared
        if each.what == "memory" and each.both_ways_Bps is not None
    ]
    fastest = fastest_Bps(within)
    rates += [ratio * _ranks(machine) * fastest / 2 for ratio in _ratios(machine)]
    return min(rates, default=WIDE)


def _ranks(machine: Machine) -> int:
    return machine.node.ranks if machine.node else 1


def _ratios(machine: Machine) -> Iterator[float]:
    for each in machine.shared:
        if each.both_ways_ratio is not None:
            yield middle(each.both_ways_ratio)
