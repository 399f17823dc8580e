# SPDX-License-Identifier: Apache-2.0
"""The reach of address translation: how many pages are known without a walk through page tables.

A chase over one line of each of n small pages takes as long as one over n lines that lie close
together, and the translation: what it takes longer has a step where a table of pages is full.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from nhalf.node.plateaus import Step, curve, plateaus, steps_of
from nhalf.node.reading import CHASE, Reading

if TYPE_CHECKING:
    from nhalf.node.asking import Core

PAGES = (16, 8192)
PER_OCTAVE = 4
LINE_BYTES = 64
SMALL_BYTES = (64 << 10, 32 << 20)
SMALL_PER_OCTAVE = 2
HUGE_MIN = 0.9
"""An array lies in huge pages if so much of it does."""
SHARP_FACTOR = 2.0
"""From the last size that fits to the first that does not: a wider step is a disturbed one."""
IDLE = "measure again on an idle node"


@dataclass(frozen=True)
class Reach:
    """One table of pages, 1 the nearest.

    It holds `pages` at least, and fewer than `pages_beyond`. A load whose page it does not hold
    takes `miss_cycles` or `miss_s` longer.
    """

    level: int
    pages: int
    pages_beyond: int
    page_bytes: int
    miss_cycles: float
    miss_s: float

    def overlaps(self, other: Reach) -> bool:
        """Whether both may be the same table."""
        return self.pages < other.pages_beyond and other.pages < self.pages_beyond


@dataclass(frozen=True)
class Tables:
    """The tables that are seen, nearest first, and in a sentence why a further one is not."""

    reaches: tuple[Reach, ...] = ()
    unresolved: str = ""


@dataclass(frozen=True)
class PageSizes:
    """A load from the largest array that was chased in both: seconds in huge and small pages.

    `huge_share` is the part of the array that the system did put into huge pages, if it says so.
    """

    size_bytes: int
    huge_s: float
    small_s: float
    huge_share: float | None

    @property
    def is_huge(self) -> bool:
        """Whether the system gave huge pages."""
        return self.huge_share is None or self.huge_share >= HUGE_MIN


def ask_pages(core: Core) -> None:
    """Chases over one line per page, in one launch also dense ones, all in small pages."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    for pages in _evenly(*PAGES, PER_OCTAVE):
        axes = {"stride": page_bytes, "skew": LINE_BYTES, "huge": "no"}
        core.ask(CHASE, pages * page_bytes, **axes)
    if core.launch == 0:
        for size_bytes in _evenly(*SMALL_BYTES, SMALL_PER_OCTAVE):
            core.ask(CHASE, size_bytes, huge="no")


def _evenly(first: int, last: int, per_octave: int) -> list[int]:
    """Sizes in even steps, `last` included."""
    found = []
    size = first
    while size < last:
        found += [size * (per_octave + k) // per_octave for k in range(per_octave)]
        size *= 2
    return [*found, last]


def translation_steps(found: Iterable[Reading]) -> list[Step]:
    """Cycles of a load by the memory whose pages it may come from, without what lines cost."""
    found = list(found)
    dense = {one.size_bytes: one for one in curve(found)}
    if not dense:
        return []
    nearest = dense[min(dense)]
    steps = []
    for one in steps_of(each for each in found if _is_of_pages(each)):
        pages = one.size_bytes // small_page_bytes(found)
        lines = dense.get(pages * LINE_BYTES)
        if lines is None and pages * LINE_BYTES > nearest.size_bytes:
            continue
        cycles = nearest.cycles_median + max(
            0.0, one.cycles_median - (lines or nearest).cycles_median
        )
        cycle_s = one.latency_s / one.cycles_median
        steps.append(Step(one.size_bytes, cycles, cycles * cycle_s))
    return steps


def tables(found: Sequence[Reading]) -> Tables:
    """The tables of pages that are seen, as far as nothing disturbed a nearer one."""
    every = reaches(found)
    launches = sorted({one.launch for one in found if _is_of_pages(one)})
    alone = [reaches([one for one in found if one.launch == launch]) for launch in launches]
    resolved: list[Reach] = []
    for one in every:
        why_not = _disturbed(one, found, alone)
        if why_not:
            return Tables(tuple(resolved), f"TLB {one.level}: {why_not}; {IDLE}")
        resolved.append(one)
    pages = max((one.size_bytes for one in found if _is_of_pages(one)), default=0)
    said = f"TLB: no step up to {pages // small_page_bytes(found)} pages"
    return Tables(tuple(resolved), "" if resolved else said)


def _disturbed(one: Reach, found: Sequence[Reading], by_launch: Sequence[Sequence[Reach]]) -> str:
    """Why a step is not that of the table alone; '' where nothing says so."""
    ends = f"{one.pages} and {one.pages_beyond} pages"
    if one.pages_beyond > SHARP_FACTOR * one.pages:
        return f"loads become slower little by little between {ends}"
    agreed = [any(map(one.overlaps, others)) for others in by_launch]
    if 2 * sum(agreed) <= len(agreed):
        return f"launches disagree about a step between {ends}"
    sizes = {one.pages * one.page_bytes, one.pages_beyond * one.page_bytes}
    seen_alone = {each.size_bytes for each in found if _is_of_pages(each) and each.was_alone}
    return "" if sizes <= seen_alone else f"others had the core at every look at {ends}"


def reaches(found: Sequence[Reading]) -> list[Reach]:
    """The steps that are seen, nearest first, disturbed or not; none if there is none."""
    steps = translation_steps(found)
    page_bytes = small_page_bytes(found)
    return [
        Reach(
            level=level,
            pages=here.last_bytes // page_bytes,
            pages_beyond=behind.first_bytes // page_bytes,
            page_bytes=page_bytes,
            miss_cycles=behind.cycles_median - here.cycles_median,
            miss_s=behind.latency_s - here.latency_s,
        )
        for level, (here, behind) in enumerate(pairwise(plateaus(steps)), 1)
    ]


def page_sizes(found: Sequence[Reading]) -> PageSizes | None:
    """What small pages cost; None if no array was chased in both."""
    small = {one.size_bytes: one for one in curve(found, is_huge=False)}
    huge = {one.size_bytes: one for one in curve(found)}
    both = small.keys() & huge.keys()
    if not both:
        return None
    size = max(both)
    shares = [
        share
        for one in found
        if one.pattern == CHASE and one.size_bytes == size and one.is_huge
        if (share := one.value("huge_share")) is not None
    ]
    share = min(shares, default=None)
    return PageSizes(size, huge[size].latency_s, small[size].latency_s, share)


def _is_of_pages(one: Reading) -> bool:
    """Whether it is a chase over one line of each page."""
    return one.pattern == CHASE and not one.is_huge and one.axis("skew") == LINE_BYTES


def small_page_bytes(found: Iterable[Reading]) -> int:
    """The size of small pages as measured; 4 KiB if none were."""
    return next((one.stride_bytes for one in found if _is_of_pages(one)), 4096)
