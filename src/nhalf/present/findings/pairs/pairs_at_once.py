# SPDX-License-Identifier: Apache-2.0
"""How much longer a small message takes while all pairs of ranks communicate."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import LATENCY, LoadCost, costly_loads
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class PairsAtOnce(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, costly_loads(facts))


def _finding(costs: list[LoadCost]) -> Finding:
    """One finding for all libraries of a setting, the worst affected first."""
    worst, *further = costs
    ratio = worst.ratio
    also = ", ".join(f"{cost.series} {times(cost.ratio.median)}" for cost in further)
    return Finding(
        f"{worst.pairs} pairs at once: a message of {format_size(worst.size_bytes)} takes "
        f"{times(ratio.median)} the time of one pair alone on {worst.series} "
        f"({between(ratio)})" + (f"; {also}." if also else "."),
        importance=weight(ratio.median, 42, 68),
        kind="pairs-at-once",
        label="Under load",
        interval=ratio,
        mpi=worst.mpi,
        pattern=LATENCY,
        size_bytes=worst.size_bytes,
    )
