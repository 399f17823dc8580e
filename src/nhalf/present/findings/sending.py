"""Findings on ways to send: modes, windows, layouts, threads, queues, long series."""

from collections.abc import Iterator, Mapping, Sequence

from nhalf.base.numbers import format_number, grouped, percent, times
from nhalf.base.units import format_size, format_time
from nhalf.facts import sending
from nhalf.facts.active_messages import (
    FIRST,
    LONG,
    MEDIUM,
    SHORT,
    BulkCrossover,
    ShortLead,
    WayCost,
    costly_ways,
    crossovers,
    short_leads,
)
from nhalf.facts.facts import Facts
from nhalf.facts.sending import first_messages, searched_queues
from nhalf.facts.soak import PATTERN as SOAK_PATTERN
from nhalf.facts.soak import SoakedSeries, soaked
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, threads_name, window_name
from nhalf.statistics.intervals import Interval


class SendMode(Finder[Facts]):
    """One finding per send mode that costs or saves, the worst library first."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for pattern, costs in sending.costly_modes(facts):
            yield _mode(pattern, costs)


def _mode(pattern: str, costs: list[sending.ModeCost]) -> Finding:
    worst, *further = costs
    ratio = worst.ratio
    also = ", ".join(
        f"{cost.series} ({times(cost.ratio.median)}, {cost.size_class})" for cost in further
    )
    mode = sending.mode_name(pattern)
    if pattern.endswith("-diffbuf"):
        subject = "Changing the buffer costs"
        remedy = "Reuse one buffer: that is the standard case."
    else:
        subject = f"A {mode} send costs" if "(" in mode else f"{mode} costs"
        remedy = "Use the standard send where the program allows it."
    text = (
        f"{subject} {times(ratio.median)} the standard send for {worst.size_class} messages on "
        f"{worst.series} ({between(ratio)})" + (f"; also {also}." if also else ".")
    )
    return Finding.of(
        worst, text, (40, 60), "send-mode", "Send mode", remedy=remedy, pattern=pattern
    )


class Windows(Finder[Facts]):
    """The cost of the most expensive way to access an MPI window."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in sending.slower_ways(facts, sending.WINDOWS):
            text = (
                f"{cost.series}: of the window accesses measured, {cost.pattern} of "
                f"{format_size(cost.size_bytes)} with {window_name(cost.way)} costs most: "
                f"{times(cost.ratio.median)} the time of a flush on allocated memory "
                f"({between(cost.ratio)})."
            )
            kind = "windows"
            remedy = "Keep the window locked for all (MPI_Win_lock_all), and flush."
            yield Finding.of(cost, text, (40, 60), kind, "One-sided synchronisation", remedy=remedy)


WORDS = {
    "vector": "a vector",
    "indexed": "indexed blocks",
    "struct": "a structure",
    "contiguous": "contiguous data",
}


class Packing(Finder[Facts]):
    """Where packing by hand is faster than an MPI data type, and what conversion costs."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        if costs := sending.packed_sooner(facts):
            yield _packing_finding(
                costs,
                "The data type of {} takes {} the time of packing by hand",
                "packing",
                "Packing by hand",
                "Copy the blocks into one buffer in a loop before sending.",
            )
        if costs := sending.packed_sooner(facts, "external32", "pack"):
            yield _packing_finding(
                costs,
                "Converted to external32, {} takes {} the time of packing without conversion",
                "external32",
                "Conversion",
                "Convert only where machines of another byte order take part.",
            )


def _packing_finding(
    costs: Sequence[sending.Packed], words: str, kind: str, label: str, remedy: str
) -> Finding:
    """The worst of the costs in words of its layout and ratio, then the others."""
    worst, *further = costs
    also = ", ".join(
        f"{WORDS.get(cost.layout, cost.layout)} on {cost.series} ({times(cost.ratio.median)})"
        for cost in further
    )
    claim = words.format(WORDS.get(worst.layout, worst.layout), times(worst.ratio.median))
    text = (
        f"{claim}, with {format_size(worst.size_bytes)} on {worst.series} "
        f"({between(worst.ratio)}; significant at {worst.sure} of {worst.sizes} sizes)"
        + (f"; also {also}." if also else ".")
    )
    return Finding.of(worst, text, (40, 60), kind, label, remedy=remedy)


class Threads(Finder[Facts]):
    """Contention between threads of a rank that send at the same time."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in sending.slower_ways(facts, sending.THREADS):
            shared = cost.way["communicators"] != "each"
            text = (
                f"{cost.series}: {cost.pattern} of {format_size(cost.size_bytes)} with "
                f"{threads_name(cost.way)} at the same time takes {times(cost.ratio.median)} as "
                f"long as with one ({between(cost.ratio)})."
            )
            label = "Several threads of each rank"
            remedy = "Try a communicator for each thread." if shared else ""
            yield Finding.of(cost, text, (40, 60), "threads", label, remedy=remedy)


PUBLISHED = "GASNet on SCI published 3.28 µs against 14.63 µs, 4.5x."
SUBJECTS = {
    SHORT: "Short active messages to a rank that looks at {way}",
    MEDIUM: "Medium active messages that are copied behind their header and moved at once",
    LONG: "Long active messages by bulk copies that are {way}",
    FIRST: "The first active message to a rank whose memory is mapped on demand, with its reply,",
}
WAYS = {
    "general": "the ready flags of all",
    "flag": "one flag that all raise, then at ready flags,",
    "bulk-each": "connected for each of them",
    "bulk-hybrid": "connected for each of them from a buffer set up once",
}
STANDARDS = {
    SHORT: "of those to a rank that looks at its peer only",
    MEDIUM: "of two transfers without a copy",
    LONG: "of stores to memory that is connected once",
    FIRST: "of later ones",
}


class ActiveMessages(Finder[Facts]):
    """Active messages: compared with MPI, when bulk copies pay off, and what each variant costs."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        if not facts.summary["pattern"].str.starts_with("am-").any():
            return
        for lead in short_leads(facts):
            yield _lead_finding(lead, facts.titles)
        yield from map(_crossover_finding, crossovers(facts))
        yield from map(_way_finding, costly_ways(facts))


def _lead_finding(lead: ShortLead, titles: Mapping[str, str]) -> Finding:
    best, *further = lead.rivals
    ratio = best.ratio
    also = ", ".join(
        f"{titles.get(rival.mpi, rival.mpi)} {times(rival.ratio.median)}" for rival in further
    )
    text = (
        f"A short active message takes {format_time(lead.time_s)} one way on {lead.series}; the "
        f"smallest message of {titles.get(best.mpi, best.mpi)} takes {format_time(best.time_s)}, "
        f"{times(ratio.median)} the time ({between(ratio)})"
        + (f"; also {also}. " if also else ". ")
        + PUBLISHED
    )
    return Finding.of(
        best, text, (45, 65), "active-short", "Active messages beside MPI", pattern=SHORT
    )


def _crossover_finding(crossover: BulkCrossover) -> Finding:
    if crossover.bulk_bytes is None:
        stores = format_size(crossover.stores_bytes or 0)
        comparison = f"stores are faster up to {stores}, bulk copies nowhere"
    elif crossover.stores_bytes is None:
        comparison = (
            f"bulk copies are faster from {format_size(crossover.bulk_bytes)} on, stores nowhere"
        )
    else:
        comparison = (
            f"stores are faster up to {format_size(crossover.stores_bytes)}, bulk copies from "
            f"{format_size(crossover.bulk_bytes)} on"
        )
    return Finding.of(
        crossover,
        f"Long active messages on {crossover.series}: {comparison}; at "
        f"{format_size(crossover.size_bytes)} a bulk copy takes {times(crossover.ratio.median)} "
        f"the time of stores ({between(crossover.ratio)}). On SCI they changed places at 8 KiB.",
        50,
        "active-crossover",
        "Stores or bulk copies",
        remedy=""
        if crossover.bulk_bytes is None
        else f'Measure with --setting "sized: am.stores={crossover.stores_bytes or 0}".',
        pattern=LONG,
    )


def _way_finding(cost: WayCost) -> Finding:
    subject = SUBJECTS[cost.pattern].format(way=WAYS.get(cost.way, cost.way))
    text = (
        f"{subject} take{'s' if cost.pattern == FIRST else ''} {times(cost.ratio.median)} the time "
        f"{STANDARDS[cost.pattern]} on {cost.series} ({between(cost.ratio)})."
    )
    return Finding.of(cost, text, (40, 55), f"active-{cost.way}", "Ways of active messages")


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
            text = (
                f"{cost.series}: in a queue of {cost.at} ({cost.queue}), a message of "
                f"{format_size(cost.size_bytes)} that is taken in reverse order takes "
                f"{format_time(cost.time_s)}, {times(cost.ratio.median)} what it takes in order "
                f"({between(cost.ratio)}): each {PASSED[cost.queue]} costs "
                f"{format_time(cost.passed_s)}."
            )
            remedy = "Receive in the order of arrival (MPI_ANY_SOURCE), or keep queues short."
            yield Finding.of(cost, text, (40, 65), f"queue-{cost.queue}", "Matching", remedy=remedy)


class FirstMessages(Finder[Facts]):
    """What it costs to write to a rank for the first time."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in first_messages(facts):
            text = (
                f"{cost.series}: the first message to rank {cost.at} takes "
                f"{format_time(cost.time_s)} until its answer, {times(cost.ratio.median)} what "
                f"the second one takes ({between(cost.ratio)})."
            )
            kind = "first-message"
            label = "First messages"
            remedy = "Send a first message to each partner before anything is timed."
            yield Finding.of(cost, text, (40, 60), kind, label, remedy=remedy, size_bytes=None)


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
            yield Finding.of(
                series,
                f"{series.series}: {grouped(series.calls)} calls of {series.of} in one launch: "
                f"{text}{clocks}.",
                75 if growth else 45,
                "soak-grows" if growth else "soak",
                "Long series",
                interval=series.memory_bytes,
                pattern=SOAK_PATTERN,
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
