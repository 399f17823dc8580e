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


def reaches(found: Sequence[Reading]) -> list[Reach]:
    """The tables of pages that are seen, nearest first; none if there is no step."""
    steps = translation_steps(found)
    flat = plateaus(steps)
    page_bytes = small_page_bytes(found)
    sizes = [one.size_bytes for one in steps]
    return [
        Reach(
            level=level,
            pages=here.last_bytes // page_bytes,
            pages_beyond=sizes[sizes.index(here.last_bytes) + 1] // page_bytes,
            page_bytes=page_bytes,
            miss_cycles=behind.cycles_median - here.cycles_median,
            miss_s=behind.latency_s - here.latency_s,
        )
        for level, (here, behind) in enumerate(pairwise(flat), 1)
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
