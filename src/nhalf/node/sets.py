"""Ways, sets and lines of caches: what fits at which distance, and which pages conflict.

Lines at a distance of S share a set if S is a multiple of the size of a way, so that as many fit
as there are ways. At half of that distance twice as many fit, and so on: the number that fits times
the distance is the size of the cache. If every second line is shifted by X, they still share their
set as long as X is less than a line.

In a physically indexed cache the probe adds pages as long as one line of each fits
(native/node/conflict_search.hpp): as many pages as the cache holds. Each further page overflows one
set; the number of other pages needed for that is the number of ways, and the distance that its line
has to move until it no longer conflicts is the size of a line.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import median

from nhalf.node.reading import CHASE, CONFLICTS, Reading

Hits = Callable[[int, int, int], bool]
"""Whether this many nodes, at a stride and with a shift in bytes, all hit."""
STRIDES = tuple(2**k for k in range(9, 16))
SHIFTS = tuple(2**k for k in range(3, 10))
WAYS_MAX = 32
AGREED_MIN = 0.6
"""A number of ways is accepted if this share of all trials agrees on it."""
HALF_ERROR = 0.15
"""At half of the distance twice as many lines fit, within this relative error."""


@dataclass(frozen=True)
class Sets:
    """How a cache is divided; `agreed_share` is the share of all trials that agree."""

    ways: int
    way_bytes: int
    line_bytes: int
    agreed_share: float

    @property
    def size_bytes(self) -> int:
        """The size of the cache: all ways together."""
        return self.ways * self.way_bytes


def ask_sets(hits: Hits, about_bytes: int) -> None:
    """Measure everything that `sets` needs of a cache of about `about_bytes`."""
    fitting: dict[int, int] = {}
    for stride in STRIDES:
        most = max(WAYS_MAX, 3 * about_bytes // (2 * stride))
        fitting[stride] = _most(hits, stride, most)
    ways = fitting[STRIDES[-2]]
    if ways < 2:
        return
    nodes = 2 * ((3 * ways // 2 + 1) // 2)
    for shift in SHIFTS:
        hits(nodes, 4096 if 4096 * ways >= about_bytes / 2 else STRIDES[-1], shift)


def _most(hits: Hits, stride_bytes: int, most: int) -> int:
    """The largest number of nodes at a stride that all hit, up to `most`."""
    low, high = 1, most + 1
    while high - low > 1:
        nodes = (low + high) // 2
        if hits(nodes, stride_bytes, 0):
            low = nodes
        else:
            high = nodes
    return low


def sets(readings: Iterable[Reading], limit_cycles: float) -> Sets | None:
    """The division of a cache whose hits take less than `limit_cycles`, from chases over few lines.

    None if they contradict each other.
    """
    chases = [reading for reading in readings if reading.pattern == CHASE]
    small = [
        reading
        for reading in chases
        if not reading.axis("skew")
        and (reading.stride_bytes >= STRIDES[0] or reading.axis("shift"))
    ]
    launches = sorted({reading.launch for reading in small})
    fitting = {}
    for stride in STRIDES:
        counts = (_fitting(_of_launch(small, launch, stride), limit_cycles) for launch in launches)
        fitting[stride] = [count for count in counts if count]
    divided = _divided(fitting)
    shifted = [reading for reading in small if reading.axis("shift")]
    by_launch = (_line(_of_launch(shifted, launch), limit_cycles) for launch in launches)
    lines = Counter(filter(None, by_launch))
    if divided is None or not lines:
        return None
    ways, way_bytes, agreed_share = divided
    line_bytes, count = lines.most_common(1)[0]
    return Sets(ways, way_bytes, line_bytes, agreed_share) if 2 * count > len(launches) else None


def _of_launch(small: Iterable[Reading], launch: int, stride_bytes: int = 0) -> list[Reading]:
    """The points of a launch, of one stride unless it is 0."""
    return [
        reading
        for reading in small
        if reading.launch == launch and stride_bytes in (0, reading.stride_bytes)
    ]


def _divided(fitting: Mapping[int, Sequence[int]]) -> tuple[int, int, float] | None:
    """Ways, bytes of a way, and the share of trials that agree; None if too few do."""
    far_counts = [count for stride in STRIDES[-3:] for count in fitting[stride]]
    if not far_counts:
        return None
    far_median = median(far_counts)
    way_strides = [s for s in STRIDES if fitting[s] and median(fitting[s]) < 1.5 * far_median]
    votes = Counter(count for stride in way_strides for count in fitting[stride])
    ways, count = votes.most_common(1)[0]
    agreed_share = count / votes.total()
    half_stride = fitting.get(way_strides[0] // 2, [])
    halves = bool(half_stride) and abs(median(half_stride) / (2 * ways) - 1) < HALF_ERROR
    return (ways, way_strides[0], agreed_share) if halves and agreed_share >= AGREED_MIN else None


def _fitting(readings: list[Reading], limit_cycles: float) -> int:
    """The largest number of nodes that hit; 0 if none did, or if no larger number was measured."""
    unshifted = [reading for reading in readings if not reading.axis("shift")]
    count = {reading: reading.size_bytes // reading.stride_bytes for reading in unshifted}
    most = max(
        (count[reading] for reading in unshifted if reading.least_cycles < limit_cycles), default=0
    )
    beyond = any(count[reading] > most for reading in unshifted)
    return most if beyond else 0


def _line(shifted: list[Reading], limit_cycles: float) -> int:
    """The first shift at which lines no longer share a set; 0 if no shift shows it."""
    hit = {reading.axis("shift"): False for reading in shifted}
    for reading in shifted:
        hit[reading.axis("shift")] |= reading.least_cycles < limit_cycles
    first = next((shift for shift in sorted(hit) if hit[shift]), 0)
    return first if first > min(hit, default=0) else 0


VOTES_MIN = 3
PAGES_AGREED_MIN = 0.5
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
    return best if count >= max(VOTES_MIN, PAGES_AGREED_MIN * votes.total()) else 0
