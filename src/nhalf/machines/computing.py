# SPDX-License-Identifier: Apache-2.0
"""Rates of one core, and the ratio of a program's computing times between machines."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec


class Computing(msgspec.Struct, frozen=True, kw_only=True):
    """Rates of one core: its clock, its operations on numbers, and what it moves from memory.

    None if one is unknown. `flops_per_s` counts a fused multiply-add twice; `memory_Bps`
    counts bytes as the triad of STREAM does.
    """

    clock_hz: float | None = None
    flops_per_s: float | None = None
    memory_Bps: float | None = None
    source: str = ""


class ComputingRatio(NamedTuple):
    """The ratio of computing times: the geometric mean, and that of each rate."""

    mean_ratio: float
    each_ratio: dict[str, float]

    @property
    def low(self) -> float:
        """The ratio for a program limited only by the rate that is best there."""
        return min(self.each_ratio.values())

    @property
    def high(self) -> float:
        """The ratio for a program limited only by the rate that is worst there."""
        return max(self.each_ratio.values())


def computing_ratio(here: Computing | None, there: Computing | None) -> ComputingRatio | None:
    """The ratio of computing time there to here; None if no rate is comparable.

    What limits a program is unknown, so that each rate counts alike.
    """
    names = {"clock": "clock_hz", "arithmetic": "flops_per_s", "memory": "memory_Bps"}
    each = {}
    for name, field in names.items():
        ours, theirs = getattr(here, field, None), getattr(there, field, None)
        if ours and theirs:
            each[name] = ours / theirs
    if not each:
        return None
    return ComputingRatio(math.exp(sum(map(math.log, each.values())) / len(each)), each)
