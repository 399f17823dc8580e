# SPDX-License-Identifier: Apache-2.0
"""Active messages: compared with MPI, when bulk copies pay off, and what each variant costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight

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
