"""The reach of address translation: how many pages the TLBs hold without a page-table walk.

A chase over one line of each of n small pages takes as long as one over n adjacent lines, plus the
translation: the difference has a step at the number of pages that fills a TLB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nhalf.node.plateaus import LoadTime, curve, plateaus, steps_of
from nhalf.node.reading import CHASE, Reading

LINE_BYTES = 64
HUGE_MIN = 0.9
"""An array counts as in huge pages if at least this share of it is."""
SHARP_FACTOR = 2.0
"""Largest ratio of the first size that does not fit to the last that does: a wider step is
disturbed."""
IDLE = "measure again on an idle node"


@dataclass(frozen=True)
class TlbReach:
    """The reach of one TLB level; level 1 is the nearest.

    It holds at least `pages`, and fewer than `pages_beyond`. A load whose page it does not hold
    takes `miss_cycles` or `miss_s` longer.
    """

    level: int
    pages: int
    pages_beyond: int
    page_bytes: int
    miss_cycles: float
    miss_s: float

    def overlaps(self, reach: TlbReach) -> bool:
        """Whether both may be the same TLB."""
        return self.pages < reach.pages_beyond and reach.pages < self.pages_beyond


@dataclass(frozen=True)
class Tables:
    """The TLB levels that were resolved, nearest first, and why a further one was not."""

    reaches: tuple[TlbReach, ...] = ()
    unresolved: str = ""


@dataclass(frozen=True)
class PageSizes:
    """Seconds of a load from the largest array that was chased in both huge and small pages.

    `huge_share` is the share of the array that the system put into huge pages, if reported.
    """

    size_bytes: int
    huge_s: float
    small_s: float
    huge_share: float | None

    @property
    def is_huge(self) -> bool:
        """Whether the system gave huge pages."""
        return self.huge_share is None or self.huge_share >= HUGE_MIN


def translation_steps(readings: Iterable[Reading]) -> list[LoadTime]:
    """Cycles of a load by the memory that its pages span, without the cost of cache misses."""
    readings = list(readings)
    dense = {step.size_bytes: step for step in curve(readings)}
    if not dense:
        return []
    nearest = dense[min(dense)]
    steps = []
    for step in steps_of(reading for reading in readings if _is_page_chase(reading)):
        pages = step.size_bytes // small_page_bytes(readings)
        lines = dense.get(pages * LINE_BYTES)
        if lines is None and pages * LINE_BYTES > nearest.size_bytes:
            continue
        translation_cycles = step.cycles_median - (lines or nearest).cycles_median
        cycles = nearest.cycles_median + max(0.0, translation_cycles)
        cycle_s = step.latency_s / step.cycles_median
        steps.append(LoadTime(step.size_bytes, cycles, cycles * cycle_s))
    return steps


def tables(readings: Sequence[Reading]) -> Tables:
    """The TLB levels that were seen, up to the first disturbed one."""
    candidates = reaches(readings)
    launches = sorted({reading.launch for reading in readings if _is_page_chase(reading)})
    by_launch = [
        reaches([reading for reading in readings if reading.launch == launch])
        for launch in launches
    ]
    resolved: list[TlbReach] = []
    for reach in candidates:
        why_not = _disturbed(reach, readings, by_launch)
        if why_not:
            return Tables(tuple(resolved), f"TLB {reach.level}: {why_not}; {IDLE}")
        resolved.append(reach)
    pages = max((reading.size_bytes for reading in readings if _is_page_chase(reading)), default=0)
    no_step = f"TLB: no step up to {pages // small_page_bytes(readings)} pages"
    return Tables(tuple(resolved), "" if resolved else no_step)


def _disturbed(
    reach: TlbReach, readings: Sequence[Reading], by_launch: Sequence[Sequence[TlbReach]]
) -> str:
    """Why a step may not be that of the TLB alone; '' if nothing suggests so."""
    ends = f"{reach.pages} and {reach.pages_beyond} pages"
    if reach.pages_beyond > SHARP_FACTOR * reach.pages:
        return f"loads become slower gradually between {ends}"
    agreed = [any(map(reach.overlaps, launch_reaches)) for launch_reaches in by_launch]
    if 2 * sum(agreed) <= len(agreed):
        return f"launches disagree about a step between {ends}"
    sizes = {reach.pages * reach.page_bytes, reach.pages_beyond * reach.page_bytes}
    undisturbed_bytes = {
        reading.size_bytes for reading in readings if _is_page_chase(reading) and reading.was_alone
    }
    is_alone = sizes <= undisturbed_bytes
    return "" if is_alone else f"other programs had the core in every trial of {ends}"


def reaches(readings: Sequence[Reading]) -> list[TlbReach]:
    """All steps of translation time, nearest first, disturbed or not."""
    steps = translation_steps(readings)
    page_bytes = small_page_bytes(readings)
    return [
        TlbReach(
            level=level,
            pages=near.last_bytes // page_bytes,
            pages_beyond=far.first_bytes // page_bytes,
            page_bytes=page_bytes,
            miss_cycles=far.cycles_median - near.cycles_median,
            miss_s=far.latency_s - near.latency_s,
        )
        for level, (near, far) in enumerate(pairwise(plateaus(steps)), 1)
    ]


def page_sizes(readings: Sequence[Reading]) -> PageSizes | None:
    """What small pages cost; None if no array was chased in both."""
    small = {step.size_bytes: step for step in curve(readings, is_huge=False)}
    huge = {step.size_bytes: step for step in curve(readings)}
    common_sizes = small.keys() & huge.keys()
    if not common_sizes:
        return None
    size = max(common_sizes)
    shares = [
        share
        for reading in readings
        if reading.pattern == CHASE and reading.size_bytes == size and reading.is_huge
        if (share := reading.value("huge_share")) is not None
    ]
    return PageSizes(size, huge[size].latency_s, small[size].latency_s, min(shares, default=None))


def _is_page_chase(reading: Reading) -> bool:
    """Whether a reading is a chase over one line of each page."""
    return reading.pattern == CHASE and not reading.is_huge and reading.axis("skew") == LINE_BYTES


def small_page_bytes(readings: Iterable[Reading]) -> int:
    """The size of small pages as measured; 4 KiB if none were."""
    return next((reading.stride_bytes for reading in readings if _is_page_chase(reading)), 4096)
