# SPDX-License-Identifier: Apache-2.0
"""Size, ways and line of a cache with physical addresses, from pages that get in each other's way.

The probe takes pages as long as one line of each fits (native/node/conflict_search.hpp): this many
pages as the cache holds. Each further page overflows one set; how many of the others have to be
there for that is the number of ways, and how far its line has to move until it no longer does is
the size of a line.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log2
from statistics import median

from nhalf.node.reading import CONFLICTS, Reading

VOTES_MIN = 3
AGREED_MIN = 0.5
WHOLE_ERROR = 0.03
"""By so much the pages may differ from what each way holds: bits of the address choose a set, so
that is a power of two. Where a neighbour took or added pages, it is not."""


@dataclass(frozen=True)
class Conflicts:
    """A cache as its conflicts show it; `size_ci` holds what all launches say.

    `size_bytes` is None where launches do not agree on it. `fitting_bytes` is the memory of the
    pages of which a line fits: more than the cache where bits of other pages choose the set, too.
    """

    size_bytes: int | None
    size_ci: tuple[float, float]
    ways: int
    line_bytes: int
    fitting_bytes: float


def conflicts(found: Iterable[Reading]) -> Conflicts | None:
    """The cache that overflows; None if launches do not agree on it."""
    looks = [one for one in found if one.pattern == CONFLICTS]
    ways = _agreed(value for _, value in _told(looks, "ways_", ""))
    if not ways:
        return None
    whose = {place for place, value in _told(looks, "ways_", "") if value == ways}
    lines = _told(looks, "line_", "_bytes")
    line = _agreed(value for place, value in lines if place in whose)
    if not line:
        return None
    page_bytes = looks[0].value("page_bytes") or 4096
    counts = [one.value("pages") or 0.0 for one in looks]
    fitting_bytes = median(counts) * page_bytes
    per_way = Counter(filter(None, (_per_way(pages, ways) for pages in counts)))
    best, votes = per_way.most_common(1)[0] if per_way else (0, 0)
    if not votes or 2 * votes < len(counts):
        return Conflicts(None, (0.0, math.inf), ways, line, fitting_bytes)
    size = int(best * ways * page_bytes)
    ends = [page_bytes * pages for pages in counts if _per_way(pages, ways) == best]
    return Conflicts(size, (min(size, *ends), max(size, *ends)), ways, line, fitting_bytes)


def _per_way(pages: float, ways: int) -> int:
    """The power of two that each way holds; 0 where pages differ from every one."""
    nearest = 2 ** round(log2(max(1.0, pages / ways)))
    # A page that was taken or left out by mistake changes the number by one.
    return nearest if abs(pages / ways / nearest - 1) < WHOLE_ERROR else 0


def _told(looks: Iterable[Reading], prefix: str, suffix: str) -> list[tuple[tuple[int, str], int]]:
    """What each look says, by launch and number, without those that could not tell."""
    return [
        ((one.launch, name.removeprefix(prefix).removesuffix(suffix)), int(value))
        for one in looks
        for name, value in one.values
        if name.startswith(prefix) and name.endswith(suffix) and value
        # A page on its own is no set.
        if value > 1
    ]


def _agreed(values: Iterable[int]) -> int:
    """What most votes of all launches say; 0 if few agree."""
    votes = Counter(values)
    if not votes:
        return 0
    best, count = votes.most_common(1)[0]
    return best if count >= max(VOTES_MIN, AGREED_MIN * votes.total()) else 0
