# SPDX-License-Identifier: Apache-2.0
"""Levels of a latency curve: where a larger array does not make a load slower."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from nhalf.node.reading import CHASE, Reading

FLAT_FACTOR = 1.12
"""On a plateau, twice the size makes a load slower by less than this."""
STEP_FACTOR = 1.3
"""The next plateau is slower by at least this."""
PLAIN_FACTOR = 2.0
"""The level behind one is slower by at least this: less may be a neighbour's doing."""
STEEP_FACTOR = 1.5
"""Beyond a level and its end, twice the size makes a load slower by less than this."""
USUAL_AXES = frozenset({"seed", "huge"})


@dataclass(frozen=True)
class Plateau:
    """Sizes at which a load takes the same: cycles, and seconds."""

    first_bytes: int
    last_bytes: int
    cycles_median: float
    latency_s: float


@dataclass(frozen=True)
class Step:
    """One size of a curve: cycles and seconds of a load, over launches."""

    size_bytes: int
    cycles_median: float
    latency_s: float


def curve(found: Iterable[Reading], line_bytes: int = 64, *, is_huge: bool = True) -> list[Step]:
    """The dense chases of launches by size, in huge pages where there are any, or in small ones."""
    return steps_of(
        one
        for one in found
        if one.pattern == CHASE
        and one.stride_bytes == line_bytes
        and one.is_plain
        and one.is_huge == is_huge
    )


def steps_of(chases: Iterable[Reading]) -> list[Step]:
    """Chases of launches by size: the least disturbed.

    A neighbour only adds to a load, so of several launches the lower quartile counts.
    """
    by_size: dict[int, list[Reading]] = {}
    for one in chases:
        by_size.setdefault(one.size_bytes, []).append(one)
    return [
        Step(
            size,
            _low([one.cycles for one in ones]),
            _low([one.cycles * one.cycle_s for one in ones]),
        )
        for size, ones in sorted(by_size.items())
    ]


def _low(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 4]


def plateaus(steps: Sequence[Step]) -> list[Plateau]:
    """The plateaus of a curve, nearest first; each at least an octave long."""
    found: list[list[Step]] = []
    for place, step in enumerate(steps):
        ahead = [other for other in steps[place:] if other.size_bytes <= 2 * step.size_bytes]
        if ahead[-1].size_bytes < 2 * step.size_bytes or len(ahead) < 3:
            continue
        if ahead[-1].cycles_median > FLAT_FACTOR * min(one.cycles_median for one in ahead):
            continue
        if max(one.cycles_median for one in ahead) > STEP_FACTOR * ahead[0].cycles_median:
            continue
        if found and _continues(found[-1], ahead):
            found[-1] += [one for one in ahead if one not in found[-1]]
        else:
            found.append(list(ahead))
    return [_plateau(ones) for ones in found]


def _continues(known: Sequence[Step], ahead: Sequence[Step]) -> bool:
    """Whether an octave belongs to the plateau before it."""
    middle = median(one.cycles_median for one in known)
    return median(one.cycles_median for one in ahead) < STEP_FACTOR * middle


def _plateau(ones: Sequence[Step]) -> Plateau:
    return Plateau(
        ones[0].size_bytes,
        ones[-1].size_bytes,
        median(one.cycles_median for one in ones),
        median(one.latency_s for one in ones),
    )


@dataclass(frozen=True)
class Rise:
    """The end of a level: an array of which about half of the loads miss, and what a miss costs."""

    size_bytes: int
    miss_cycles: float


def rise(steps: Sequence[Step], level: Plateau) -> Rise | None:
    """Where a load takes half as much more as in an array that is four times as large.

    The next level need not be flat: neighbours may leave too little of a shared cache for that.
    None if it cannot be told from memory, or from a disturbance of the level itself.
    """
    for step in steps:
        if step.size_bytes <= level.last_bytes:
            continue
        twice, four = (
            next((one for one in steps if one.size_bytes >= times * step.size_bytes), None)
            for times in (2, 4)
        )
        if twice is None or four is None:
            return None
        miss_cycles = four.cycles_median - level.cycles_median
        if step.cycles_median - level.cycles_median < miss_cycles / 2:
            continue
        is_plain = four.cycles_median > PLAIN_FACTOR * level.cycles_median
        is_next = four.cycles_median < STEEP_FACTOR * twice.cycles_median
        return Rise(step.size_bytes, miss_cycles) if is_plain and is_next else None
    return None
