# SPDX-License-Identifier: Apache-2.0
"""How much the throughput of each process differs between phases of dense traffic."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.many_ranks import SlowestPhase, slowest_phases
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, weight


class SlowestPhaseFinder(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, slowest_phases(facts))


def _finding(slowest: SlowestPhase) -> Finding:
    ratio = slowest.ratio
    has_interval = ratio.low < ratio.high
    if slowest.pattern == "dense-cumulative":
        slow, fast = (
            f"with {count(phase, 'pair')} at once" for phase in (slowest.slow, slowest.fast)
        )
    else:
        slow, fast = (f"at distance {phase}" for phase in (slowest.slow, slowest.fast))
    return Finding(
        f"{slowest.series}, {slowest.ranks} ranks, {slowest.pattern} of "
        f"{format_size(slowest.size_bytes)}: each process that takes part sends "
        f"{format_rate(slowest.slow_Bps)} {slow} and {format_rate(slowest.fast_Bps)} {fast}, "
        f"{times(ratio.median)} as much" + (f" ({between(ratio)})." if has_interval else "."),
        importance=weight(ratio.median, 42, 68),
        kind="slowest-phase",
        label="Shared paths",
        interval=ratio,
        figure=times(ratio.median).replace("x", "×"),
        mpi=slowest.mpi,
        pattern=slowest.pattern,
        size_bytes=slowest.size_bytes,
    )
