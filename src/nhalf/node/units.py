# SPDX-License-Identifier: Apache-2.0
"""What the units of a core do in a cycle, and how long their results take, as operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nhalf.machines.processor import Name, Operation
from nhalf.node.reading import UNIT, Reading
from nhalf.statistics.intervals import Interval, launch_interval

NAMES: dict[str, Name] = {
    "add": "add",
    "multiply": "multiply",
    "fused": "fused_multiply_add",
    "divide": "divide",
    "root-times": "square_root",
    "load": "load",
    "store": "store",
    "integer-add": "integer",
}
"""Kernels of the probe, and what they measure; a root is multiplied, so that it stays a number."""
LANE_BITS = 64

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


def _per_cycle(units: Sequence[Reading]) -> dict[Key, Interval]:
    """Operations in a cycle with the number of chains that suits best, over launches."""
    best: dict[Key, dict[int, float]] = {}
    for one in units:
        if one.axis("chains") > 1:
            launches = best.setdefault(_key(one), {})
            launches[one.launch] = max(launches.get(one.launch, 0.0), 1 / one.cycles)
    return {key: launch_interval(list(values.values())) for key, values in best.items()}


def _latencies(units: Sequence[Reading]) -> dict[Key, Interval]:
    """Cycles from an operation to the next that needs its result, over launches."""
    every: dict[Key, list[float]] = {}
    for one in units:
        if one.axis("chains") == 1:
            every.setdefault(_key(one), []).append(one.cycles)
    return {key: launch_interval(values) for key, values in every.items()}


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
