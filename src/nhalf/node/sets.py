# SPDX-License-Identifier: Apache-2.0
"""Ways, sets and line of the nearest cache: how many lines fit at which distance.

Lines at a distance of S share a set where S is a multiple of what a way holds, so that as many fit
as there are ways. At half of that distance twice as many fit, and so on: what fits times the
distance is the size of the cache. Lines of which every second one lies X further on share their set
as long as X is less than a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from nhalf.node.reading import CHASE, Reading

Hits = Callable[[int, int, int], bool]
"""Whether this many nodes, at a stride and with a shift in bytes, all hit."""
STRIDES = tuple(2**k for k in range(9, 16))
SHIFTS = tuple(2**k for k in range(3, 10))
WAYS_MAX = 32
AGREED_MIN = 0.6
"""A number of ways is believed where this share of all looks has it."""
HALF_ERROR = 0.15
"""At half of the distance twice as many lines fit, but for this."""


@dataclass(frozen=True)
class Sets:
    """How a cache is divided; `agreed_share` is the part of all looks that said the same."""

    ways: int
    way_bytes: int
    line_bytes: int
    agreed_share: float

    @property
    def size_bytes(self) -> int:
        """What all ways hold."""
        return self.ways * self.way_bytes


def look(hits: Hits, about_bytes: int) -> None:
    """Ask whatever `sets` needs to know of a cache that holds some `about_bytes`."""
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
    """The most nodes at a stride that all hit, up to some number."""
    low, high = 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        if hits(middle, stride_bytes, 0):
            low = middle
        else:
            high = middle
    return low


def sets(found: Iterable[Reading], limit_cycles: float) -> Sets | None:
    """What chases over few lines say of a cache whose hits take less than `limit_cycles`.

    None if they contradict each other.
    """
    chases = [one for one in found if one.pattern == CHASE]
    small = [
        one
        for one in chases
        if not one.axis("skew") and (one.stride_bytes >= STRIDES[0] or one.axis("shift"))
    ]
    launches = sorted({one.launch for one in small})
    fitting = {
        stride: [
            count
            for launch in launches
            if (count := _fitting(_of(small, launch, stride), limit_cycles))
        ]
        for stride in STRIDES
    }
    divided = _divided(fitting)
    lines = Counter(
        line
        for launch in launches
        if (line := _line([one for one in _of(small, launch) if one.axis("shift")], limit_cycles))
    )
    if divided is None or not lines:
        return None
    ways, way_bytes, agreed_share = divided
    line_bytes, count = lines.most_common(1)[0]
    return Sets(ways, way_bytes, line_bytes, agreed_share) if 2 * count > len(launches) else None


def _of(small: Iterable[Reading], launch: int, stride_bytes: int = 0) -> list[Reading]:
    """The points of a launch, of one stride where it is given."""
    return [one for one in small if one.launch == launch and stride_bytes in (0, one.stride_bytes)]


def _divided(fitting: Mapping[int, Sequence[int]]) -> tuple[int, int, float] | None:
    """Ways, bytes of a way, and the share of looks that say so; None if they do not agree."""
    far = [count for stride in STRIDES[-3:] for count in fitting[stride]]
    if not far:
        return None
    middle = median(far)
    same = [s for s in STRIDES if fitting[s] and median(fitting[s]) < 1.5 * middle]
    votes = Counter(count for stride in same for count in fitting[stride])
    ways, count = votes.most_common(1)[0]
    agreed_share = count / votes.total()
    before = fitting.get(same[0] // 2, [])
    halves = bool(before) and abs(median(before) / (2 * ways) - 1) < HALF_ERROR
    return (ways, same[0], agreed_share) if halves and agreed_share >= AGREED_MIN else None


def _fitting(ones: list[Reading], limit_cycles: float) -> int:
    """The most nodes that hit; 0 if nobody looked at more or at fewer."""
    unshifted = [one for one in ones if not one.axis("shift")]
    count = {one: one.size_bytes // one.stride_bytes for one in unshifted}
    most = max((count[one] for one in unshifted if _low(one) < limit_cycles), default=0)
    beyond = any(count[one] > most for one in unshifted)
    return most if beyond else 0


def _line(shifted: list[Reading], limit_cycles: float) -> int:
    """The first shift at which lines no longer share a set; 0 if that is not seen."""
    hit = {one.axis("shift"): False for one in shifted}
    for one in shifted:
        hit[one.axis("shift")] |= _low(one) < limit_cycles
    first = next((shift for shift in sorted(hit) if hit[shift]), 0)
    return first if first > min(hit, default=0) else 0


def _low(one: Reading) -> float:
    """The least disturbed tenth of the samples: whatever hits shows it there."""
    found = one.value("cycles_p10")
    return one.cycles if found is None else found
