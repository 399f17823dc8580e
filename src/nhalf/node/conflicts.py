"""Size, ways and line of a physically indexed cache, from pages that conflict.

The probe adds pages as long as one line of each fits (native/node/conflict_search.hpp): as many
pages as the cache holds. Each further page overflows one set; the number of other pages needed for
that is the number of ways, and the distance that its line has to move until it no longer conflicts
is the size of a line.
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
POWER_ERROR = 0.03
"""Pages per way are a power of two within this relative error, since bits of the address choose a
set; they are not if a neighbour took or added pages."""


@dataclass(frozen=True)
class Conflicts:
    """A cache as its conflicts show it; `size_ci` contains the results of all launches.

    `size_bytes` is None if launches do not agree on it. `fitting_bytes` is the memory of the pages
    of which a line fits: more than the cache if the page number also selects the set.
    """

    size_bytes: int | None
    size_ci: tuple[float, float]
    ways: int
    line_bytes: int
    fitting_bytes: float


def conflicts(readings: Iterable[Reading]) -> Conflicts | None:
    """The cache that overflows; None if launches do not agree on it."""
    trials = [reading for reading in readings if reading.pattern == CONFLICTS]
    ways = _agreed(value for _, value in _votes(trials, "ways_", ""))
    if not ways:
        return None
    agreeing = {place for place, value in _votes(trials, "ways_", "") if value == ways}
    lines = _votes(trials, "line_", "_bytes")
    line = _agreed(value for place, value in lines if place in agreeing)
    if not line:
        return None
    page_bytes = trials[0].value("page_bytes") or 4096
    counts = [reading.value("pages") or 0.0 for reading in trials]
    fitting_bytes = median(counts) * page_bytes
    per_way = Counter(filter(None, (_per_way(pages, ways) for pages in counts)))
    best, votes = per_way.most_common(1)[0] if per_way else (0, 0)
    if not votes or 2 * votes < len(counts):
        return Conflicts(None, (0.0, math.inf), ways, line, fitting_bytes)
    size = int(best * ways * page_bytes)
    ends = [page_bytes * pages for pages in counts if _per_way(pages, ways) == best]
    return Conflicts(size, (min(size, *ends), max(size, *ends)), ways, line, fitting_bytes)


def _per_way(pages: float, ways: int) -> int:
    """The number of pages in each way, a power of two; 0 if `pages` is not close to one."""
    nearest = 2 ** round(log2(max(1.0, pages / ways)))
    # A page that was added or left out by mistake changes the number by one.
    return nearest if abs(pages / ways / nearest - 1) < POWER_ERROR else 0


def _votes(
    trials: Iterable[Reading], prefix: str, suffix: str
) -> list[tuple[tuple[int, str], int]]:
    """The values that trials found, by launch and number, without undecided ones."""
    return [
        ((trial.launch, name.removeprefix(prefix).removesuffix(suffix)), int(value))
        for trial in trials
        for name, value in trial.values
        if name.startswith(prefix) and name.endswith(suffix) and value
        # A page on its own is no set.
        if value > 1
    ]


def _agreed(values: Iterable[int]) -> int:
    """The value with most votes over all launches; 0 if few agree."""
    votes = Counter(values)
    if not votes:
        return 0
    best, count = votes.most_common(1)[0]
    return best if count >= max(VOTES_MIN, AGREED_MIN * votes.total()) else 0
