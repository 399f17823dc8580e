"""Plateaus of a latency curve: sizes at which a larger array does not make a load slower."""

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
"""The next level is slower by at least this factor: less may be due to a neighbour."""
STEEP_FACTOR = 1.5
"""Beyond a level and its end, twice the size makes a load slower by less than this."""
USUAL_AXES = frozenset({"seed", "huge"})


@dataclass(frozen=True)
class Plateau:
    """Sizes at which a load takes the same time, in cycles and seconds."""

    first_bytes: int
    last_bytes: int
    cycles_median: float
    latency_s: float


@dataclass(frozen=True)
class LoadTime:
    """One size of a curve: cycles and seconds of a load, over launches.

    `was_calm` is whether nobody else had the core in one of them.
    """

    size_bytes: int
    cycles_median: float
    latency_s: float
    was_calm: bool = True


def curve(
    readings: Iterable[Reading], line_bytes: int = 64, *, is_huge: bool = True
) -> list[LoadTime]:
    """The dense chases of all launches by size, with huge pages requested or with small ones."""
    return steps_of(
        reading
        for reading in readings
        if reading.pattern == CHASE
        and reading.stride_bytes == line_bytes
        and reading.is_plain
        and reading.is_huge == is_huge
    )


def steps_of(chases: Iterable[Reading]) -> list[LoadTime]:
    """The least disturbed chases of all launches, by size.

    A neighbour only adds to a load, so the lower quartile over launches counts.
    """
    by_size: dict[int, list[Reading]] = {}
    for chase in chases:
        by_size.setdefault(chase.size_bytes, []).append(chase)
    return [
        LoadTime(
            size,
            _low([chase.cycles for chase in same_size]),
            _low([chase.cycles * chase.cycle_s for chase in same_size]),
            any(not chase.value("preempted") for chase in same_size),
        )
        for size, same_size in sorted(by_size.items())
    ]


def _low(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 4]


def plateaus(steps: Sequence[LoadTime]) -> list[Plateau]:
    """The plateaus of a curve, nearest first; each at least an octave long."""
    groups: list[list[LoadTime]] = []
    for place, step in enumerate(steps):
        ahead = [later for later in steps[place:] if later.size_bytes <= 2 * step.size_bytes]
        if ahead[-1].size_bytes < 2 * step.size_bytes or len(ahead) < 3:
            continue
        if ahead[-1].cycles_median > FLAT_FACTOR * min(later.cycles_median for later in ahead):
            continue
        if max(later.cycles_median for later in ahead) > STEP_FACTOR * ahead[0].cycles_median:
            continue
        if groups and _continues(groups[-1], ahead):
            groups[-1] += [later for later in ahead if later not in groups[-1]]
        else:
            groups.append(list(ahead))
    return [_plateau(group) for group in groups]


def _continues(plateau: Sequence[LoadTime], ahead: Sequence[LoadTime]) -> bool:
    """Whether an octave belongs to the plateau before it."""
    typical = median(step.cycles_median for step in plateau)
    return median(step.cycles_median for step in ahead) < STEP_FACTOR * typical


def _plateau(steps: Sequence[LoadTime]) -> Plateau:
    return Plateau(
        steps[0].size_bytes,
        steps[-1].size_bytes,
        median(step.cycles_median for step in steps),
        median(step.latency_s for step in steps),
    )


@dataclass(frozen=True)
class Rise:
    """The end of a level: an array half of whose loads miss, and the cost of a miss."""

    size_bytes: int
    miss_cycles: float


def rise(steps: Sequence[LoadTime], level: Plateau) -> Rise | None:
    """The size at which half of the loads miss, judged by an array that is four times as large.

    The next level need not be flat: neighbours may leave too little of a shared cache for that.
    None if it cannot be told from memory, or from a disturbance of the level itself.
    """
    for step in steps:
        if step.size_bytes <= level.last_bytes:
            continue
        twice, four = (
            next((larger for larger in steps if larger.size_bytes >= times * step.size_bytes), None)
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
