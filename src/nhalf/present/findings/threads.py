# SPDX-License-Identifier: Apache-2.0
"""Contention between threads of a rank that send at the same time."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.standard_ways import THREADS, THREADS_STANDARD, slower_ways
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, threads_name, times, weight


class Threads(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for one in slower_ways(facts, THREADS, THREADS_STANDARD):
            shared = one.way["communicators"] != "each"
            yield Finding(
                f"{one.series}: {one.pattern} of {format_size(one.size_bytes)} with "
                f"{threads_name(one.way)} at the same time takes {times(one.ratio.median)} as long "
                f"as with one ({between(one.ratio)}).",
                importance=weight(one.ratio.median, 40, 60),
                kind="threads",
                label="Several threads of each rank",
                remedy="Try a communicator for each thread." if shared else "",
                value=one.ratio.median,
                low=one.ratio.low,
                high=one.ratio.high,
                mpi=one.mpi,
                pattern=one.pattern,
                size_bytes=one.size_bytes,
            )
