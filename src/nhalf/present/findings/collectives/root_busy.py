# SPDX-License-Identifier: Apache-2.0
"""Cases in which the algorithm that completes first is not the one that frees the root first."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size, format_time
from nhalf.facts.algorithms import Freed, freed_first
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class RootBusy(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        worst: dict[tuple[str, str], Freed] = {}
        for freed in freed_first(facts):
            previous = worst.get((freed.mpi, freed.pattern))
            if previous is None or freed.ratio.low > previous.ratio.low:
                worst[freed.mpi, freed.pattern] = freed
        yield from map(_finding, worst.values())


def _finding(freed: Freed) -> Finding:
    size = format_size(freed.size_bytes)
    return Finding(
        f"{freed.library}: the fastest {freed.pattern} is not the one that frees the root first. "
        f"For {size} on {freed.ranks} ranks {freed.completes} completes first "
        f"({format_time(freed.complete_s)}; its root is busy for "
        f"{format_time(freed.completes_root_s)}), but with {freed.frees} the root is free after "
        f"{format_time(freed.frees_root_s)}, {times(freed.ratio.median)} sooner "
        f"({between(freed.ratio)}); all ranks then complete after "
        f"{format_time(freed.frees_complete_s)}.",
        importance=weight(freed.ratio.low, 41, 58),
        kind="root-busy",
        label="The root's own time",
        interval=freed.ratio,
        mpi=freed.mpi,
        pattern=freed.pattern,
        size_bytes=freed.size_bytes,
    )
