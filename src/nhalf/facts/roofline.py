# SPDX-License-Identifier: Apache-2.0
"""Rooflines of one core: the bound of a loop by its arithmetic intensity.

S. Williams, A. Waterman, D. Patterson: Roofline: an insightful visual performance model for
multicore architectures, Communications of the ACM 52 (2009) 65.
"""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.node import nodes

KERNEL = "triad_Bps"


@dataclass(frozen=True)
class Roof:
    """One memory level of one core: its rate by STREAM's triad, and the peak of the units."""

    run: str
    level: str
    rate_Bps: float
    peak_per_s: float

    @property
    def ridge_per_byte(self) -> float:
        """From this many operations per byte on, the units are the limit."""
        return self.peak_per_s / self.rate_Bps

    def reached_per_s(self, operations_per_byte: float) -> float:
        """Upper bound of a loop's operations per second."""
        return min(self.peak_per_s, operations_per_byte * self.rate_Bps)


@fact
def roofs(facts: Facts) -> list[Roof]:
    """The levels of one core of every node; none if bandwidth or units were not measured."""
    peaks = {node.run: node.peak_per_s for node in nodes(facts)}
    return [
        Roof(row["run"], row["level"], row[KERNEL], peaks[row["run"]])
        for row in facts.results.get("stream", [])
        if row["ranks"] == 1 and row.get(KERNEL) and peaks.get(row["run"])
    ]
