"""Numbers of a node alone: what `nhalf node` measures of it, and what records say of it.

A study asks for one by its name here, `value = {node = "NAME"}`. Each is an entry of NODE_FIGURES:
its unit, how it comes out of the facts of a run, and how out of a record. Both raise InputError
with the reason where it is not known.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.loops.livermore.corpus import KernelBound, kernel_bound
from nhalf.loops.livermore.titles import PATTERN, TITLES
from nhalf.loops.source.misses import capacity_misses
from nhalf.machines.machine import Machine
from nhalf.machines.processor import Cache, Processor
from nhalf.machines.processor_file import processor
from nhalf.node.levels import Level, hierarchy
from nhalf.node.measured import line_cycles
from nhalf.node.plateaus import curve
from nhalf.node.reading import LOAD, STORE, Reading, readings
from nhalf.store.keys import axis, value
from nhalf.studies.value import StudyValue, Unit


@dataclass(frozen=True)
class NodeFigure:
    """A number of a node: its unit, and where it comes from."""

    unit: Unit
    measured: Callable[[Facts], StudyValue]
    recorded: Callable[[Machine], StudyValue]


PUBLISHED = "published"
BEYOND = 2
"""How many times its size an array has of which all misses are expected."""
FARTHEST = 16
"""Sweeps beyond a cache are over arrays up to this many times its size."""


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


def _published_load_cycles(cache: Cache) -> float | None:
    return (cache.hit_cycles or 1) + cache.load_miss_cycles if cache.load_miss_cycles else None


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


LEVELS = {"unoptimised": "O0", "basic": "O2", "full": "O3-native"}
"""Levels of optimisation, as points of kernels have them."""
FULL = "full"
COUNTED_ON = "power2"
"""Any processor does: what is counted of a loop is in its source."""


@cache
def _bound(number: int, name: str) -> KernelBound:
    """The bound of a kernel on a processor; raises InputError if there is none."""
    bound = kernel_bound(number, processor(name))
    if bound.cycles is None:
        raise InputError(f"kernel {number} has no bound: {bound.reason}")
    if not bound.flops:
        raise InputError(f"kernel {number} has no arithmetic")
    return bound


def _recorded_cpf(number: int, machine: Machine) -> StudyValue:
    """Fewest cycles per operation on the processor of a record."""
    bound = _bound(number, recorded_processor(machine).name)
    return StudyValue((bound.cycles or 0.0) / bound.flops)


def _recorded_rate(number: int, machine: Machine) -> StudyValue:
    return _recorded_cpf(number, machine).inverse(recorded_processor(machine).clock_hz)


def _point(facts: Facts, number: int, level: str) -> Row:
    """A kernel in the fastest build of a level; raises InputError if it was not run."""
    points = facts.sound.filter(
        pl.col("pattern") == PATTERN,
        axis("kernel") == f"{number:02d}",
        axis("level") == LEVELS[level],
        axis("tuned").is_null(),
    ).with_columns(essential=value("essential_cycles"), cycle_s=value("cycle_s"))
    if points.is_empty():
        raise InputError(f"kernel {number} was not run")
    row = points.sort("median_s").row(0, named=True)
    if not row["essential"]:
        raise InputError(f"the bound of kernel {number} is not known here")
    return row


def _measured_cpf(number: int, facts: Facts) -> StudyValue:
    """Fewest cycles per operation on the processor here: computed, so it has no spread."""
    cycles = _point(facts, number, FULL)["essential"] / _bound(number, COUNTED_ON).flops
    return StudyValue(cycles, (cycles, cycles))


def _measured_rate(number: int, facts: Facts) -> StudyValue:
    return _measured_cpf(number, facts).inverse(1 / _point(facts, number, FULL)["cycle_s"])


def _measured_share(number: int, level: str, facts: Facts) -> StudyValue:
    """The share of the bounding rate that compiled code reaches."""
    row = _point(facts, number, level)
    bound_s = row["essential"] * row["cycle_s"]
    ci = (row["low_s"], row["high_s"]) if row["launches"] > 1 else None
    return StudyValue(row["median_s"], ci, origin="measured").inverse(bound_s)


def _no_share(machine: Machine) -> StudyValue:
    raise InputError(f"no times of kernels are published of {machine.name}")


def _kernel_figures() -> Iterator[tuple[str, NodeFigure]]:
    """Cycles per operation and the rate at the bound, and the share of it by level."""
    for number in range(1, len(TITLES) + 1):
        name = f"kernel-{number}"
        cpf = partial(_measured_cpf, number), partial(_recorded_cpf, number)
        rate = partial(_measured_rate, number), partial(_recorded_rate, number)
        yield f"{name}-cpf", NodeFigure("ratio", *cpf)
        yield f"{name}-rate", NodeFigure("flop/s", *rate)
        for level in LEVELS:
            measured = partial(_measured_share, number, level)
            yield f"{name}-{level}", NodeFigure("share", measured, _no_share)


def _of_cache(
    unit: Unit,
    measured: Callable[[Sequence[Reading]], float | None],
    stated: Callable[[Cache], float | None],
) -> NodeFigure:
    """A number of the nearest cache."""
    return NodeFigure(unit, _measured(measured), _published(stated))


NODE_FIGURES = {
    "l1-size": _of_cache("bytes", _of_level("size_bytes"), lambda c: c.size_bytes),
    "l1-line": _of_cache("bytes", _of_level("line_bytes"), lambda c: c.line_bytes),
    "l1-ways": _of_cache("ratio", _of_level("ways"), lambda c: c.ways),
    "l1-hit": _of_cache("cycles", _of_level("hit_cycles_median"), lambda c: c.hit_cycles),
    "l1-missing-load": _of_cache("cycles", _load_cycles, _published_load_cycles),
    "l1-missing-store-ratio": _of_cache("ratio", _store_ratio, _published_store_ratio),
    "l1-miss-share": NodeFigure("share", _measured(_miss_share), _estimated_miss_share),
    **dict(_kernel_figures()),
}
"""By the name that studies write.

A load that misses takes its whole time, hit included; the share of misses is that of one array of
twice the size.
"""
