# SPDX-License-Identifier: Apache-2.0
"""The cost of the most expensive way to access an MPI window."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.variants import WINDOWS, slower_ways
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight, window_name


class Windows(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in slower_ways(facts, WINDOWS):
            yield Finding(
                f"{cost.series}: of the window accesses measured, {cost.pattern} of "
                f"{format_size(cost.size_bytes)} with {window_name(cost.way)} costs most: "
                f"{times(cost.ratio.median)} the time of a flush on allocated memory "
                f"({between(cost.ratio)}).",
                importance=weight(cost.ratio.median, 40, 60),
                kind="windows",
                label="One-sided synchronisation",
                remedy="Keep the window locked for all (MPI_Win_lock_all), and flush.",
                interval=cost.ratio,
                mpi=cost.mpi,
                pattern=cost.pattern,
                size_bytes=cost.size_bytes,
            )
