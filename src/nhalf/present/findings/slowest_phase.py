# SPDX-License-Identifier: Apache-2.0
"""How much the throughput of each process differs between phases of dense traffic."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.slowest_phase import SlowestPhase, slowest_phases
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, times, weight


class SlowestPhaseFinder(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, slowest_phases(facts))


def _finding(one: SlowestPhase) -> Finding:
    ratio = one.ratio
    known = ratio.low < ratio.high
    if one.pattern == "dense-cumulative":
        slow, fast = (f"with {count(phase, 'pair')} at once" for phase in (one.slow, one.fast))
    else:
        slow, fast = (f"at distance {phase}" for phase in (one.slow, one.fast))
    return Finding(
        f"{one.series}, {one.ranks} ranks, {one.pattern} of {format_size(one.size_bytes)}: each "
        f"process that takes part sends {format_rate(one.slow_Bps)} {slow} and "
        f"{format_rate(one.fast_Bps)} {fast}, {times(ratio.median)} as much"
        + (f" ({between(ratio)})." if known else "."),
        importance=weight(ratio.median, 42, 68),
        kind="slowest-phase",
        label="Shared paths",
        value=ratio.median,
        low=ratio.low,
        high=ratio.high,
        figure=times(ratio.median).replace("x", "×"),
        mpi=one.mpi,
        pattern=one.pattern,
        size_bytes=one.size_bytes,
    )
