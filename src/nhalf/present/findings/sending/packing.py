# SPDX-License-Identifier: Apache-2.0
"""Where packing by hand is faster than an MPI data type."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.sending import LAYOUT_PATTERN, packed_sooner
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight

WORDS = {
    "vector": "a vector",
    "indexed": "indexed blocks",
    "struct": "a structure",
    "contiguous": "contiguous data",
}


class Packing(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        costs = packed_sooner(facts)
        if not costs:
            return
        worst, *further = costs
        also = ", ".join(
            f"{WORDS.get(cost.layout, cost.layout)} on {cost.series} ({times(cost.ratio.median)})"
            for cost in further
        )
        yield Finding(
            f"The data type of {WORDS.get(worst.layout, worst.layout)} takes "
            f"{times(worst.ratio.median)} the time of packing by hand, with "
            f"{format_size(worst.size_bytes)} on {worst.series} ({between(worst.ratio)}; "
            f"significant at {worst.sure} of {worst.sizes} sizes)"
            + (f"; also {also}." if also else "."),
            importance=weight(worst.ratio.median, 40, 60),
            kind="packing",
            label="Packing by hand",
            remedy="Copy the blocks into one buffer in a loop before sending.",
            interval=worst.ratio,
            mpi=worst.mpi,
            pattern=LAYOUT_PATTERN,
            size_bytes=worst.size_bytes,
        )
