# SPDX-License-Identifier: Apache-2.0
"""Whether ping-ping has half the rate of ping-pong: contention between the two directions."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size
from nhalf.facts.both_ways import PATTERN, BothWays, both_ways
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, percent, times, weight

HALF = 1.8
"""From this ratio on, both directions together move hardly more than one alone."""


class BothWaysFinder(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, both_ways(facts))


def _finding(one: BothWays) -> Finding:
    ratio = one.ratio
    sizes = f"{format_size(one.first_bytes)} to {format_size(one.last_bytes)}"
    rate = percent(1 / ratio.median)
    if one.shared:
        said = (
            f"{one.series}: a message in the opposite direction makes {one.size_class} messages "
            f"({sizes}) take {times(ratio.median)} as long ({between(ratio)}). Ping-ping moves "
            f"{rate} of what ping-pong does in each direction: {_why(ratio.low)}."
        )
    else:
        said = (
            f"{one.series}: the two directions do not disturb each other. For "
            f"{one.size_class} messages ({sizes}) ping-ping moves {rate} of what ping-pong does in "
            f"each direction (interval {1 / ratio.high * 100:.0f} to {percent(1 / ratio.low)})."
        )
    return Finding(
        said,
        importance=weight(max(ratio.low, 1.0), 42, 60),
        kind="both-ways",
        label="Both ways at once",
        figure=rate,
        value=ratio.median,
        low=ratio.low,
        high=ratio.high,
        mpi=one.mpi,
        pattern=PATTERN,
        size_bytes=one.last_bytes,
    )


def _why(low: float) -> str:
    return (
        "the two directions share the same resource"
        if low > HALF
        else "the two directions share part of a resource"
    )
