"""The levels on a latency curve: where it is flat, and from where to where one becomes too small.

A cache of C bytes keeps at most C of an array, under any policy of replacement. So an array that
hits throughout is no larger than the cache. Half of a little more than C may still hit, and lines
that share a set may miss a little below C; two thirds miss beyond C only.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
    cycles_median = median(step.cycles_median for step in steps)
    latency_s = median(step.latency_s for step in steps)
    return Plateau(steps[0].size_bytes, steps[-1].size_bytes, cycles_median, latency_s)


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


FITS_SHARE = 0.1
"""Nearly all loads of an array hit as long as a smaller share than this misses."""
MISSES_SHARE = 2 / 3
"""An array of whose loads this share misses is larger than the cache."""
APART_FACTOR = 1.5
"""A shelf is slower by at least this than the plateau before it, the next one than the shelf."""
SHELF_OCTAVE = (1.5, 1.7)
"""A shelf is at least so long, and looked for in stretches of at most that: less than the octave of
a plateau."""
SHELF_SIZES = 3
LATER = 2
"""The number of larger arrays that have to be faster."""
SHARP_FACTOR = 4.0
"""Ends further apart than this may be those of two levels, whose misses cost different times."""
TAKEN_FACTOR = 2
"""Neighbours that have the core take at most so large a part of a cache from an array."""


@dataclass(frozen=True)
class Knee:
    """The end of a level: nearly all loads of `fits_bytes` hit, of `half_bytes` half.

    Most loads of `misses_bytes` miss; of half of that where others had the core in every launch.
    `miss_cycles` is what a miss takes longer; None if the ends are too far apart for one level.
    """

    fits_bytes: int
    half_bytes: int
    misses_bytes: int
    miss_cycles: float | None


def undisturbed(steps: Sequence[LoadTime]) -> list[LoadTime]:
    """A curve that never falls, by size.

    A neighbour only adds time and no larger array is faster, so a size that takes longer than two
    larger ones was disturbed. A single one may be due to a wrong reading of the clock.
    """
    usable = [
        step for step in steps if math.isfinite(step.cycles_median) and step.cycles_median > 0
    ]
    lowered: list[LoadTime] = []
    fastest: list[LoadTime] = []
    for step in sorted(usable, key=lambda step: step.size_bytes, reverse=True):
        lowered.append(_fastest(step, fastest[-1]) if len(fastest) == LATER else step)
        fastest = sorted([*fastest, step], key=lambda later: later.cycles_median)[:LATER]
    rising: list[LoadTime] = []
    for step in reversed(lowered):
        is_lower = rising and rising[-1].cycles_median > step.cycles_median
        rising.append(replace(rising[-1], size_bytes=step.size_bytes) if is_lower else step)
    return rising


def _fastest(step: LoadTime, later: LoadTime) -> LoadTime:
    """A size with the time of a larger one if that is shorter."""
    is_disturbed = later.cycles_median < step.cycles_median
    return replace(later, size_bytes=step.size_bytes) if is_disturbed else step


def terraces(steps: Sequence[LoadTime]) -> list[Plateau]:
    """The levels of a curve that never falls: its plateaus, and the shelf behind the second.

    Plateaus that are not apart are one: translation makes loads slower within a level. Where
    neighbours use a shared cache, the level behind the private ones may be flat over less than an
    octave.
    """
    flat: list[Plateau] = []
    for plateau in plateaus(steps):
        if flat and plateau.cycles_median < APART_FACTOR * flat[-1].cycles_median:
            flat[-1] = replace(flat[-1], last_bytes=plateau.last_bytes)
        else:
            flat.append(plateau)
    shelf = _shelf(steps, flat[1], flat[2] if len(flat) > 2 else None) if len(flat) > 1 else None
    return [*flat[:2], shelf, *flat[2:]] if shelf else flat


def _shelf(steps: Sequence[LoadTime], near: Plateau, far: Plateau | None) -> Plateau | None:
    """The first flat stretch between two plateaus and apart from both; None if there is none."""
    between = [
        step
        for step in steps
        if step.size_bytes > near.last_bytes
        and step.cycles_median >= APART_FACTOR * near.cycles_median
        and (far is None or step.size_bytes < far.first_bytes)
    ]
    shortest, longest = SHELF_OCTAVE
    for place, first in enumerate(between):
        ahead = [step for step in between[place:] if step.size_bytes <= longest * first.size_bytes]
        limit_cycles = FLAT_FACTOR * first.cycles_median
        if len(ahead) < SHELF_SIZES or ahead[-1].size_bytes < shortest * first.size_bytes:
            continue
        if ahead[-1].cycles_median > limit_cycles:
            continue
        level = [step for step in between[place:] if step.cycles_median <= limit_cycles]
        middle = level[len(level) // 2]
        if far is not None and far.cycles_median < APART_FACTOR * middle.cycles_median:
            return None
        ends = (level[0].size_bytes, level[-1].size_bytes)
        return Plateau(*ends, middle.cycles_median, middle.latency_s)
    return None


def knee(steps: Sequence[LoadTime], own: Plateau, behind: Plateau | None) -> Knee | None:
    """The end of a level on a curve that never falls; `behind` is the next level, if it is flat.

    None if nothing slower was measured.
    """
    if behind is not None:
        return _knee(steps, own, behind.cycles_median - own.cycles_median)
    end = rise(steps, own)
    return _knee(steps, own, end.miss_cycles) if end else None


def _knee(steps: Sequence[LoadTime], own: Plateau, miss_cycles: float) -> Knee | None:
    if miss_cycles <= 0:
        return None
    beyond = [step for step in steps if step.size_bytes >= own.first_bytes]

    def misses(share: float) -> list[int]:
        least_cycles = own.cycles_median + share * miss_cycles
        return [step.size_bytes for step in beyond if step.cycles_median > least_cycles]

    not_all, half, most = misses(FITS_SHARE), misses(0.5), misses(MISSES_SHARE)
    fitting = [step.size_bytes for step in beyond if not not_all or step.size_bytes < not_all[0]]
    if not fitting or not most:
        return None
    is_sharp = most[0] <= SHARP_FACTOR * fitting[-1]
    was_calm = next(step.was_calm for step in beyond if step.size_bytes == most[0])
    most_bytes = most[0] if was_calm else TAKEN_FACTOR * most[0]
    return Knee(fitting[-1], half[0], most_bytes, miss_cycles if is_sharp else None)
