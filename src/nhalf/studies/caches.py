"""The nearest cache of a node: measured in a run, or published of the processor of a record."""

from collections.abc import Callable, Sequence

from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.loops.source.misses import capacity_misses
from nhalf.machines.machine import Machine
from nhalf.machines.processor import Cache, Processor
from nhalf.machines.processor_file import processor
from nhalf.node.levels import Level, hierarchy
from nhalf.node.measured import line_cycles
from nhalf.node.plateaus import curve
from nhalf.node.reading import LOAD, STORE, Reading, readings
from nhalf.studies.value import StudyValue, Unit

PUBLISHED = "published"
BEYOND = 2
"""How many times its size an array has of which all misses are expected."""
FARTHEST = 16
"""Sweeps beyond a cache are over arrays up to this many times its size."""
Figure = tuple[Unit, Callable[[Facts], StudyValue], Callable[[Machine], StudyValue]]


def recorded_processor(machine: Machine) -> Processor:
    """The processor of a record; raises InputError if none is described."""
    name = machine.computing.processor if machine.computing else ""
    if not name:
        raise InputError(f"the processor of {machine.name} is not described")
    return processor(name)


def _published(number: Callable[[Cache], float | None]) -> Callable[[Machine], StudyValue]:
    """What the processor of a record says of its nearest cache."""

    def value(machine: Machine) -> StudyValue:
        described = recorded_processor(machine)
        stated = number(described.caches[0]) if described.caches else None
        if stated is None:
            raise InputError(f"it is not published of {described.name}")
        return StudyValue(float(stated), origin=PUBLISHED)

    return value


def _measured(number: Callable[[Sequence[Reading]], float | None]) -> Callable[[Facts], StudyValue]:
    """A number of the nearest cache, from the points of each launch."""

    def value(facts: Facts) -> StudyValue:
        by_launch: dict[int, list[Reading]] = {}
        for point in next(iter(readings(facts.measurements).values()), []):
            by_launch.setdefault(point.launch, []).append(point)
        if not by_launch:
            raise InputError("no node was measured")
        numbers = {("", launch): number(points) for launch, points in by_launch.items()}
        resolved = {launch: float(x) for launch, x in numbers.items() if x is not None}
        if not resolved:
            raise InputError("the nearest cache was not resolved")
        return StudyValue.of_launches(resolved)

    return value


def _first(points: Sequence[Reading]) -> Level | None:
    levels = hierarchy(points).levels
    return levels[0] if levels else None


def _of_level(name: str) -> Callable[[Sequence[Reading]], float | None]:
    return lambda points: getattr(_first(points), name, None)


def _load_cycles(points: Sequence[Reading]) -> float | None:
    """Cycles of a load that misses."""
    level = _first(points)
    if level is None or level.miss_s is None:
        return None
    return level.hit_cycles_median * (1 + level.miss_s / level.hit_s)


def _store_ratio(points: Sequence[Reading]) -> float | None:
    """How many times as long a line takes to store to as to load, where all miss."""
    level = _first(points)
    if level is None or level.size_bytes is None or level.line_bytes is None:
        return None
    ends = BEYOND * level.size_bytes, FARTHEST * level.size_bytes
    loaded, stored = (
        line_cycles(points, pattern, ends, level.line_bytes) for pattern in (LOAD, STORE)
    )
    return stored / loaded if loaded and stored else None


def _published_store_ratio(cache: Cache) -> float | None:
    if cache.store_miss_cycles is None or cache.load_miss_cycles is None:
        return None
    hit = cache.hit_cycles or 1.0
    return (hit + cache.store_miss_cycles) / (hit + cache.load_miss_cycles)


def _miss_share(points: Sequence[Reading]) -> float | None:
    """The share of loads that miss in one array of BEYOND times the cache."""
    level = _first(points)
    if level is None or level.size_bytes is None or level.miss_s is None:
        return None
    goal = BEYOND * level.size_bytes
    step = min(curve(points), key=lambda step: abs(step.size_bytes - goal))
    miss_cycles = level.hit_cycles_median * level.miss_s / level.hit_s
    return min(1.0, max(0.0, (step.cycles_median - level.hit_cycles_median) / miss_cycles))


def _estimated_miss_share(machine: Machine) -> StudyValue:
    """The estimate for the cache of a record, by the published formula."""
    described = recorded_processor(machine)
    if not described.caches:
        raise InputError(f"no cache of {described.name} is described")
    cache = described.caches[0]
    blocks = BEYOND * cache.size_bytes // cache.line_bytes
    return StudyValue(capacity_misses(blocks, cache, arrays=1) / blocks, origin=PUBLISHED)


FIGURES: dict[str, Figure] = {
    "l1-size": ("bytes", _measured(_of_level("size_bytes")), _published(lambda c: c.size_bytes)),
    "l1-line": ("bytes", _measured(_of_level("line_bytes")), _published(lambda c: c.line_bytes)),
    "l1-ways": ("ratio", _measured(_of_level("ways")), _published(lambda c: c.ways)),
    "l1-hit": (
        "cycles",
        _measured(_of_level("hit_cycles_median")),
        _published(lambda c: c.hit_cycles),
    ),
    "l1-missing-load": (
        "cycles",
        _measured(_load_cycles),
        _published(
            lambda c: (c.hit_cycles or 1) + c.load_miss_cycles if c.load_miss_cycles else None
        ),
    ),
    "l1-missing-store-ratio": (
        "ratio",
        _measured(_store_ratio),
        _published(_published_store_ratio),
    ),
    "l1-miss-share": ("share", _measured(_miss_share), _estimated_miss_share),
}
"""By name: the unit, and how it comes out of a run and out of a record.

A load that misses takes its whole time, hit included; the share of misses is that of one array of
twice the size.
"""
