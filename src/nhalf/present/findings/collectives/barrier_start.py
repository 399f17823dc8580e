# SPDX-License-Identifier: Apache-2.0
"""The error that a start after a barrier would have made."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.collectives import MISLEADS, misled
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between


class BarrierStart(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        most = misled(facts)
        if most is None:
            return
        size = f" of {format_size(most.size_bytes)}" if most.size_bytes else ""
        yield Finding(
            f"Timed from its exit of a barrier, as most benchmarks do, {most.pattern}{size} on "
            f"{most.series} would read {times(most.ratio.median)} its real time "
            f"({between(most.ratio)}); {most.sure} of {most.points} points would be off by more "
            f"than {MISLEADS - 1:.0%}.",
            importance=44,
            kind="barrier-start",
            label="Barrier start misleads",
            interval=most.ratio,
            mpi=most.mpi,
            pattern=most.pattern,
            size_bytes=most.size_bytes,
        )
