# SPDX-License-Identifier: Apache-2.0
"""Contention between threads of a rank that send at the same time."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.variants import THREADS, slower_ways
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, threads_name, weight


class Threads(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in slower_ways(facts, THREADS):
            shared = cost.way["communicators"] != "each"
            yield Finding(
                f"{cost.series}: {cost.pattern} of {format_size(cost.size_bytes)} with "
                f"{threads_name(cost.way)} at the same time takes {times(cost.ratio.median)} as "
                f"long as with one ({between(cost.ratio)}).",
                importance=weight(cost.ratio.median, 40, 60),
                kind="threads",
                label="Several threads of each rank",
                remedy="Try a communicator for each thread." if shared else "",
                interval=cost.ratio,
                mpi=cost.mpi,
                pattern=cost.pattern,
                size_bytes=cost.size_bytes,
            )
