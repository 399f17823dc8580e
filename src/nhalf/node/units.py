# SPDX-License-Identifier: Apache-2.0
"""What the units of a core do in a cycle, and how long their results take, as operations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from nhalf.machines.processor import Name, Operation, Unit
from nhalf.node.reading import UNIT, Reading
from nhalf.statistics.intervals import Interval

NAMES: dict[str, Name] = {
    "add": "add",
    "multiply": "multiply",
    "fused": "fused_multiply_add",
    "divide": "divide",
    "root-times": "square_root",
    "load": "load",
    "store": "store",
    "integer-add": "integer",
    "permute": "permute",
}
TOGETHER = "add-multiply"
"""Sums and products in turn, each as often."""
SHARING = ("add", "multiply", "fused")
"""Kernels of the probe, and what they measure; a root is multiplied, so that it stays a number."""
LANE_BITS = 64
MANY_LAUNCHES = 3
WHOLE_ERROR = 0.15
"""A measured rate or latency is that of a whole number within this."""

Key = tuple[str, int]


def operations(found: Iterable[Reading], hit_cycles: float | None = None) -> list[Operation]:
    """Every operation that was measured, by width: in a cycle, and cycles until its result.

    `hit_cycles` is the latency of a load that hits the nearest cache.
    """
    units = [one for one in found if one.pattern == UNIT]
    per_cycle = _per_cycle(units)
    latency = _latencies(units)
    described = []
    for (kernel, bits), rate in sorted(per_cycle.items(), key=lambda item: (item[0][1], item[0])):
        if kernel not in NAMES:
            continue
        late = latency.get((kernel, bits))
        if kernel == "root-times" and late:
            late = _less(late, latency.get(("multiply", bits)))
        described.append(
            Operation(
                name=NAMES[kernel],
                lanes=max(1, bits // LANE_BITS),
                per_cycle=rate.median,
                per_cycle_ci=(rate.low, rate.high),
                latency_cycles=hit_cycles if kernel == "load" else late.median if late else None,
                latency_ci=(late.low, late.high) if late else None,
            )
        )
    return described


def single(found: Iterable[Reading], kernel: str, *, latency: bool = False) -> Interval | None:
    """What one kernel without a width of its own does in a cycle, or its latency in cycles."""
    units = [one for one in found if one.pattern == UNIT]
    every = _latencies(units) if latency else _per_cycle(units)
    return next((value for (name, _), value in every.items() if name == kernel), None)


def together(found: Iterable[Reading]) -> list[Unit]:
    """What sums and products share: no more of both begin in a cycle than of a mixture."""
    rates = _per_cycle([one for one in found if one.pattern == UNIT])
    cycles: dict[str, float] = {}
    for (kernel, bits), rate in sorted(rates.items()):
        if kernel != TOGETHER:
            continue
        lanes = max(1, bits // LANE_BITS)
        names = [NAMES[other] for other in SHARING if (other, bits) in rates]
        keys = [name if lanes == 1 else f"{name}.{lanes}" for name in names]
        # So many at least: no neighbour makes a unit faster.
        whole = math.ceil(rate.high * (1 - WHOLE_ERROR / 5))
        cycles |= dict.fromkeys(keys, 1 / whole)
    return [Unit(name="arithmetic", kind="floating_point", cycles=cycles)] if cycles else []


def _per_cycle(units: Sequence[Reading]) -> dict[Key, Interval]:
    """Operations in a cycle with the number of chains that suits best.

    Neighbours only take: what a quick launch did in its least disturbed samples is the upper end,
    and the lower one is what the slowest did.
    """
    quick: dict[Key, list[float]] = {}
    slow: dict[Key, list[float]] = {}
    for one in units:
        if one.axis("chains") > 1:
            quick.setdefault(_key(one), []).append(1 / least_cycles(one))
            slow.setdefault(_key(one), []).append(1 / one.cycles)
    return {
        key: Interval(_rate(_quick(slow[key])), min(slow[key]), _rate(_quick(quick[key])))
        for key in quick
    }


def _latencies(units: Sequence[Reading]) -> dict[Key, Interval]:
    """Cycles from an operation to the next that needs its result; the shortest is the lower end."""
    least: dict[Key, list[float]] = {}
    every: dict[Key, list[float]] = {}
    for one in units:
        if one.axis("chains") == 1:
            least.setdefault(_key(one), []).append(least_cycles(one))
            every.setdefault(_key(one), []).append(one.cycles)
    return {
        key: Interval(
            _whole(1 / _quick([1 / one for one in ones])),
            _whole(1 / _quick([1 / one for one in least[key]])),
            max(_whole(min(ones)), *ones),
        )
        for key, ones in every.items()
    }


def _quick(rates: Sequence[float]) -> float:
    """The quickest launch; of many the second, since a look at the clock may be wrong."""
    ordered = sorted(rates, reverse=True)
    return ordered[1] if len(ordered) > MANY_LAUNCHES else ordered[0]


def least_cycles(one: Reading) -> float:
    """The least disturbed tenth of the samples of a point."""
    found = one.value("cycles_p10")
    return one.cycles if found is None else found


def _rate(per_cycle: float) -> float:
    """The rate of units that begin a whole number in a cycle, or one in a whole number of cycles.

    What is measured stays a little below it.
    """
    if per_cycle < 1 / (1 + WHOLE_ERROR):
        return 1 / _whole(1 / per_cycle)
    whole = math.ceil(per_cycle * (1 - WHOLE_ERROR / 5))
    return whole if per_cycle > whole * (1 - WHOLE_ERROR) else per_cycle


def _whole(cycles: float) -> float:
    """The whole number of cycles that a measurement lies a little above, or what it is."""
    whole = math.floor(cycles + WHOLE_ERROR / 5)
    return float(whole) if whole and cycles - whole < WHOLE_ERROR else cycles


def _key(one: Reading) -> Key:
    kernel = next((text for name, text in one.axes if name == "operation"), "")
    return kernel, one.axis("bits")


def _less(both: Interval, second: Interval | None) -> Interval | None:
    """The first of two operations that follow each other."""
    if second is None:
        return None
    return Interval(
        both.median - second.median, both.low - second.high, max(both.high - second.low, 0.0)
    )
