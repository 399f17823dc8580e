# SPDX-License-Identifier: Apache-2.0
"""Size, ways and line of a cache with physical addresses, from pages that get in each other's way.

The probe takes pages as long as one line of each fits (native/node/conflict_search.hpp): this many
pages as the cache holds. Each further page overflows one set; how many of the others have to be
there for that is the number of ways, and how far its line has to move until it no longer does is
the size of a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from nhalf.node.reading import CONFLICTS, Reading

VOTES_MIN = 3
AGREED_MIN = 0.5
WHOLE_ERROR = 0.03
"""By so much the pages may differ from a whole number of pages in each way."""


@dataclass(frozen=True)
class Conflicts:
    """A cache as its conflicts show it; `size_ci` holds what all launches say."""

    size_bytes: int
    size_ci: tuple[float, float]
    ways: int
    line_bytes: int


def conflicts(found: Iterable[Reading]) -> Conflicts | None:
    """The cache that overflows; None if launches do not agree on it."""
    looks = [one for one in found if one.pattern == CONFLICTS]
    ways = _agreed(looks, "ways_", "")
    line = _agreed(looks, "line_", "_bytes")
    if not ways or not line:
        return None
    page_bytes = looks[0].value("page_bytes") or 4096
    pages = [one.value("pages") or 0 for one in looks]
    # A page that was taken or left out by mistake changes the number by one.
    per_way = round(median(pages) / ways)
    if not per_way or abs(median(pages) / ways / per_way - 1) > WHOLE_ERROR:
        return None
    size = int(per_way * ways * page_bytes)
    ends = [page_bytes * number for number in pages]
    return Conflicts(size, (min(size, *ends), max(size, *ends)), ways, line)


def _agreed(looks: Iterable[Reading], prefix: str, suffix: str) -> int:
    """What most votes of all launches say, without those that could not tell; 0 if few agree."""
    votes = Counter(
        int(value)
        for one in looks
        for name, value in one.values
        if name.startswith(prefix) and name.endswith(suffix) and value
        # A page on its own is no set.
        if value > 1
    )
    if not votes:
        return 0
    best, count = votes.most_common(1)[0]
    return best if count >= max(VOTES_MIN, AGREED_MIN * votes.total()) else 0
