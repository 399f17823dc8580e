# SPDX-License-Identifier: Apache-2.0
"""Cases in which the algorithm that completes first is not the one that frees the root first."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.root_busy import Freed, freed_first
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, times, weight


class RootBusy(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        worst: dict[tuple[str, str], Freed] = {}
        for one in freed_first(facts):
            known = worst.get((one.mpi, one.pattern))
            if known is None or one.ratio.low > known.ratio.low:
                worst[one.mpi, one.pattern] = one
        yield from map(_finding, worst.values())


def _finding(one: Freed) -> Finding:
    size = format_size(one.size_bytes)
    return Finding(
        f"{one.library}: the fastest {one.pattern} is not the one that frees the root first. For "
        f"{size} on {one.ranks} ranks {one.completes} completes first "
        f"({format_time(one.complete_s)}; its root is busy for {format_time(one.completes_root_s)})"
        f", but with {one.frees} the root is free after {format_time(one.frees_root_s)}, "
        f"{times(one.ratio.median)} sooner ({between(one.ratio)}); all ranks then complete after "
        f"{format_time(one.frees_complete_s)}.",
        importance=weight(one.ratio.low, 41, 58),
        kind="root-busy",
        label="The root's own time",
        value=one.ratio.median,
        low=one.ratio.low,
        high=one.ratio.high,
        mpi=one.mpi,
        pattern=one.pattern,
        size_bytes=one.size_bytes,
    )
