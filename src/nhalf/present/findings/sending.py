"""Findings on ways to send: modes, windows, layouts, threads and active messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nhalf.base.numbers import times
from nhalf.base.units import format_size, format_time
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
from nhalf.facts.sending import (
    LAYOUT_PATTERN,
    THREADS,
    WINDOWS,
    ModeCost,
    Packed,
    costly_modes,
    mode_name,
    packed_sooner,
    slower_ways,
)
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, threads_name, weight, window_name


class SendMode(Finder[Facts]):
    """One finding per send mode that costs or saves, the worst library first."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for pattern, costs in costly_modes(facts):
            yield _mode(pattern, costs)


def _mode(pattern: str, costs: list[ModeCost]) -> Finding:
    worst, *further = costs
    ratio = worst.ratio
    also = ", ".join(
        f"{cost.series} ({times(cost.ratio.median)}, {cost.size_class})" for cost in further
    )
    mode = mode_name(pattern)
    if pattern.endswith("-diffbuf"):
        subject = "Changing the buffer costs"
        remedy = "Reuse one buffer: that is the standard case."
    else:
        subject = f"A {mode} send costs" if "(" in mode else f"{mode} costs"
        remedy = "Use the standard send where the program allows it."
    return Finding(
        f"{subject} {times(ratio.median)} the standard send for {worst.size_class} messages on "
        f"{worst.series} ({between(ratio)})" + (f"; also {also}." if also else "."),
        importance=weight(ratio.median, 40, 60),
        kind="send-mode",
        label="Send mode",
        remedy=remedy,
        interval=ratio,
        mpi=worst.mpi,
        pattern=pattern,
    )


class Windows(Finder[Facts]):
    """The cost of the most expensive way to access an MPI window."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in slower_ways(facts, WINDOWS):
            yield Finding(
                f"{cost.series}: of the window accesses measured, {cost.pattern} of "
                f"{format_size(cost.size_bytes)} with {window_name(cost.way)} costs most: "
                f"{times(cost.ratio.median)} the time of a flush on allocated memory "
                f"({between(cost.ratio)}).",
                importance=weight(cost.ratio.median, 40, 60),
                kind="windows",
                label="One-sided synchronisation",
                remedy="Keep the window locked for all (MPI_Win_lock_all), and flush.",
                interval=cost.ratio,
                mpi=cost.mpi,
                pattern=cost.pattern,
                size_bytes=cost.size_bytes,
            )


WORDS = {
    "vector": "a vector",
    "indexed": "indexed blocks",
    "struct": "a structure",
    "contiguous": "contiguous data",
}


class Packing(Finder[Facts]):
    """Where packing by hand is faster than an MPI data type, and what conversion costs."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        if costs := packed_sooner(facts):
            yield _packing_finding(
                costs,
                "The data type of {} takes {} the time of packing by hand",
                "packing",
                "Packing by hand",
                "Copy the blocks into one buffer in a loop before sending.",
            )
        if costs := packed_sooner(facts, "external32", "pack"):
            yield _packing_finding(
                costs,
                "Converted to external32, {} takes {} the time of packing without conversion",
                "external32",
                "Conversion",
                "Convert only where machines of another byte order take part.",
            )


def _packing_finding(
    costs: Sequence[Packed], words: str, kind: str, label: str, remedy: str
) -> Finding:
    """The worst of the costs in words of its layout and ratio, then the others."""
    worst, *further = costs
    also = ", ".join(
        f"{WORDS.get(cost.layout, cost.layout)} on {cost.series} ({times(cost.ratio.median)})"
        for cost in further
    )
    claim = words.format(WORDS.get(worst.layout, worst.layout), times(worst.ratio.median))
    return Finding(
        f"{claim}, with {format_size(worst.size_bytes)} on {worst.series} "
        f"({between(worst.ratio)}; significant at {worst.sure} of {worst.sizes} sizes)"
        + (f"; also {also}." if also else "."),
        importance=weight(worst.ratio.median, 40, 60),
        kind=kind,
        label=label,
        remedy=remedy,
        interval=worst.ratio,
        mpi=worst.mpi,
        pattern=LAYOUT_PATTERN,
        size_bytes=worst.size_bytes,
    )


class Threads(Finder[Facts]):
    """Contention between threads of a rank that send at the same time."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for cost in slower_ways(facts, THREADS):
            shared = cost.way["communicators"] != "each"
            yield Finding(
                f"{cost.series}: {cost.pattern} of {format_size(cost.size_bytes)} with "
                f"{threads_name(cost.way)} at the same time takes {times(cost.ratio.median)} as "
                f"long as with one ({between(cost.ratio)}).",
                importance=weight(cost.ratio.median, 40, 60),
                kind="threads",
                label="Several threads of each rank",
                remedy="Try a communicator for each thread." if shared else "",
                interval=cost.ratio,
                mpi=cost.mpi,
                pattern=cost.pattern,
                size_bytes=cost.size_bytes,
            )


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
    return Finding(
        f"A short active message takes {format_time(lead.time_s)} one way on {lead.series}; the "
        f"smallest message of {titles.get(best.mpi, best.mpi)} takes {format_time(best.time_s)}, "
        f"{times(ratio.median)} the time ({between(ratio)})"
        + (f"; also {also}. " if also else ". ")
        + PUBLISHED,
        importance=weight(ratio.median, 45, 65),
        kind="active-short",
        label="Active messages beside MPI",
        interval=ratio,
        mpi=best.mpi,
        pattern=SHORT,
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
    return Finding(
        f"Long active messages on {crossover.series}: {comparison}; at "
        f"{format_size(crossover.size_bytes)} a bulk copy takes {times(crossover.ratio.median)} "
        f"the time of stores ({between(crossover.ratio)}). On SCI they changed places at 8 KiB.",
        importance=50,
        kind="active-crossover",
        label="Stores or bulk copies",
        remedy=""
        if crossover.bulk_bytes is None
        else f'Measure with --setting "sized: am.stores={crossover.stores_bytes or 0}".',
        interval=crossover.ratio,
        pattern=LONG,
        size_bytes=crossover.size_bytes,
    )


def _way_finding(cost: WayCost) -> Finding:
    subject = SUBJECTS[cost.pattern].format(way=WAYS.get(cost.way, cost.way))
    return Finding(
        f"{subject} take{'s' if cost.pattern == FIRST else ''} {times(cost.ratio.median)} the time "
        f"{STANDARDS[cost.pattern]} on {cost.series} ({between(cost.ratio)}).",
        importance=weight(cost.ratio.median, 40, 55),
        kind=f"active-{cost.way}",
        label="Ways of active messages",
        interval=cost.ratio,
        pattern=cost.pattern,
    )
