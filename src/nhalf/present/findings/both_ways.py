# SPDX-License-Identifier: Apache-2.0
"""Whether ping-ping is half of ping-pong: what messages in both directions take from each other."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size
from nhalf.facts.both_ways import PATTERN, BothWays, both_ways
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, percent, times, weight

HALF = 1.8
"""From here on both directions together move hardly more than one of them."""


class BothWaysFinder(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, both_ways(facts))


def _finding(one: BothWays) -> Finding:
    ratio = one.ratio
    sizes = f"{format_size(one.first_bytes)} to {format_size(one.last_bytes)}"
    rate = percent(1 / ratio.median)
    if one.shared:
        said = (
            f"{one.series}: a message that comes towards one costs {times(ratio.median)} the time "
            f"for {one.size_class} messages ({sizes}; {between(ratio)}). Ping-ping moves {rate} of "
            f"what ping-pong does in each direction: {_why(ratio.low)}."
        )
    else:
        said = (
            f"{one.series}: both directions at once do not disturb each other. For "
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
        "both directions share what carries them"
        if low > HALF
        else "both directions share a part of what carries them"
    )
