# SPDX-License-Identifier: Apache-2.0
"""Whether ping-ping has half the rate of ping-pong: contention between the two directions."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent, share_span, times
from nhalf.facts.facts import Facts
from nhalf.facts.sending import PINGPING, BothWays, both_ways
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, size_range, weight

HALF = 1.8
"""From this ratio on, both directions together move hardly more than one alone."""


class BothWaysFinder(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, both_ways(facts))


def _finding(directions: BothWays) -> Finding:
    ratio = directions.ratio
    sizes = size_range(directions.first_bytes, directions.last_bytes)
    rate = percent(1 / ratio.median)
    if directions.shared:
        text = (
            f"{directions.series}: a message in the opposite direction makes "
            f"{directions.size_class} messages ({sizes}) take {times(ratio.median)} as long "
            f"({between(ratio)}). Ping-ping moves {rate} of what ping-pong does in each direction: "
            f"{_why(ratio.low)}."
        )
    else:
        text = (
            f"{directions.series}: the two directions do not disturb each other. For "
            f"{directions.size_class} messages ({sizes}) ping-ping moves {rate} of what ping-pong "
            f"does in each direction (interval "
            f"{share_span(1 / ratio.high, 1 / ratio.low)})."
        )
    return Finding(
        text,
        importance=weight(max(ratio.low, 1.0), 42, 60),
        kind="both-ways",
        label="Both ways at once",
        figure=rate,
        interval=ratio,
        mpi=directions.mpi,
        pattern=PINGPING,
        size_bytes=directions.last_bytes,
    )


def _why(low: float) -> str:
    return (
        "the two directions share the same resource"
        if low > HALF
        else "the two directions share part of a resource"
    )
