"""Findings on messages that are searched for, on first messages, and on long series of calls."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import format_number, grouped, percent, times
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.queues import (
    FIRST_MESSAGES,
    QUEUES,
    first_messages,
    searched_queues,
)
from nhalf.facts.soak import PATTERN, SoakedSeries, soaked
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight
from nhalf.statistics.intervals import Interval

PASSED = {"unexpected": "message that waits before it", "posted": "receive that was started before"}
GROWTH_LEAST = 0.02
"""A trend of the time is one where it makes up this share of it at least."""
CLOCKS_SHOWN = 1e-4
"""Two clocks that differ by less are said to agree within this share."""
LEAK_LEAST_BYTES = 1 << 16
"""Memory grows where all calls together add this much at least."""


class Queues(Finder[Facts]):
    """What a receive pays for messages that it has to pass."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in searched_queues(facts):
            yield Finding(
                f"{cost.series}: in a queue of {cost.at} ({cost.queue}), a message of "
                f"{format_size(cost.size_bytes)} that is taken in reverse order takes "
                f"{format_time(cost.time_s)}, {times(cost.ratio.median)} what it takes in order "
                f"({between(cost.ratio)}): each {PASSED[cost.queue]} costs "
                f"{format_time(cost.passed_s)}.",
                importance=weight(cost.ratio.median, 40, 65),
                kind=f"queue-{cost.queue}",
                label="Matching",
                remedy="Receive in the order of arrival (MPI_ANY_SOURCE), or keep queues short.",
                interval=cost.ratio,
                mpi=cost.mpi,
                pattern=QUEUES,
                size_bytes=cost.size_bytes,
            )


class FirstMessages(Finder[Facts]):
    """What it costs to write to a rank for the first time."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in first_messages(facts):
            yield Finding(
                f"{cost.series}: the first message to rank {cost.at} takes "
                f"{format_time(cost.time_s)} until its answer, {times(cost.ratio.median)} what "
                f"the second one takes ({between(cost.ratio)}).",
                importance=weight(cost.ratio.median, 40, 60),
                kind="first-message",
                label="First messages",
                remedy="Send a first message to each partner before anything is timed.",
                interval=cost.ratio,
                mpi=cost.mpi,
                pattern=FIRST_MESSAGES,
            )


class Soak(Finder[Facts]):
    """Whether a long series of calls needs more and more."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for series in soaked(facts):
            growth = list(_growth(series))
            clocks = ""
            if series.clocks_ratio is not None:
                apart = max(abs(series.clocks_ratio - 1), CLOCKS_SHOWN)
                clocks = f"; two clocks agree within {percent(apart, 2)}"
            text = "; ".join(growth) or "memory, descriptors and time do not grow"
            yield Finding(
                f"{series.series}: {grouped(series.calls)} calls of {series.of} in one launch: "
                f"{text}{clocks}.",
                importance=75 if growth else 45,
                kind="soak-grows" if growth else "soak",
                label="Long series",
                interval=series.memory_bytes,
                mpi=series.mpi,
                pattern=PATTERN,
                size_bytes=series.size_bytes,
            )


def _growth(series: SoakedSeries) -> Iterator[str]:
    """What grows for certain, and by enough to matter, in words."""
    memory, trend = series.memory_bytes, series.time_trend
    if memory.low > 0 and memory.median * series.calls >= LEAK_LEAST_BYTES:
        yield f"memory grows by {_ends(memory)} bytes a call"
    if series.descriptors.low > 0 and series.descriptors.median * series.calls >= 1:
        yield f"descriptors grow by {_ends(series.descriptors)} a call"
    if trend.low > GROWTH_LEAST:
        yield f"the time of a call grows by {percent(trend.median)} from the first to the last"


def _ends(growth: Interval) -> str:
    low, high = format_number(growth.low, 3), format_number(growth.high, 3)
    return f"{format_number(growth.median, 3)} ({low} to {high})"
