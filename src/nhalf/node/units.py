# SPDX-License-Identifier: Apache-2.0
"""What the units of a core do in a cycle, and how long their results take, as operations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from nhalf.machines.processor import Name, Operation, Pair, Unit, key_of
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
    "whole-load": "whole_load",
    "whole-store": "whole_store",
    "forwarded-load": "forwarded_load",
    "updated-load": "updated_load",
    "integer-add": "integer",
    "permute": "permute",
    "shuffle": "shuffle",
    "minimum": "minimum",
    "logical": "logical",
    "convert": "convert",
    "across": "across",
    "compare": "compare",
    "gather": "gather",
    "scatter": "scatter",
    "integer-multiply": "integer_multiply",
    "taken-branch": "taken_branch",
    "store-apart": "store_apart",
}
TWO = ("convert", "across")
"""There and back count as one for the probe: two operations, which share time and latency."""
QUOTIENTS = 20
PAIRS: dict[str, Pair] = {
    "move-then-sum": "move",
    "whole-move-then-sum": "whole_move",
    "whole-load-then-sum": "whole_load",
}
PLACES = 3.6
"""In the front end, of a round of such a kernel: 4, or 3 where two instructions enter as one."""
AFTER = {"window": 400, "waiting": 20}
"""Instructions after a chain of quotients, as native/node/units/moves.hpp has them."""
CHOICE_CYCLES = 1.0
"""Of the choice after a comparison, which whole numbers take."""
TOGETHER = "add-multiply"
"""Sums and products in turn, each as often."""
SHARING = ("add", "multiply", "fused")
"""Kernels of the probe, and what they measure; a root is multiplied, so that it stays a number."""
LANE_BITS = 64
MANY_LAUNCHES = 3
CLOCK_ERROR = 0.03
WHOLE_ERROR = 0.15
"""A measured rate or latency is that of a whole number within this."""

ACCESSES = (("loads", "load", "whole-load"), ("stores", "store", "whole-store"))
"""Units that accesses share, and the kernels of both kinds."""

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
        late = _alone(kernel, bits, latency)
        if kernel in TWO:
            rate = scaled(rate, 2.0)
        described.append(
            Operation(
                name=NAMES[kernel],
                lanes=max(1, bits // LANE_BITS),
                per_cycle=rate.median,
                per_cycle_ci=(rate.low, rate.high),
                latency_cycles=hit_cycles if kernel == "load" else late.median if late else None,
                latency_ci=(late.low, late.high) if late else None,
                latency_to_others_cycles=_others(kernel, bits, latency),
            )
        )
    return described


def _alone(kernel: str, bits: int, latency: Mapping[Key, Interval]) -> Interval | None:
    """The latency of an operation without what the probe has to put beside it."""
    if kernel == "compare":
        return _of_comparison(latency)
    late = latency.get((kernel, bits))
    if late is None:
        return None
    if kernel == "root-times":
        return _less(late, latency.get(("multiply", bits)))
    if kernel in TWO:
        return scaled(late, 0.5)
    return late


def _of_comparison(latency: Mapping[Key, Interval]) -> Interval | None:
    """Without the choice by its result, and the way back to registers of real numbers."""
    late, back = (latency.get((kernel, LANE_BITS)) for kernel in ("compare-across", "across"))
    if late is None or back is None:
        return None
    rest = back.median / 2 + CHOICE_CYCLES
    return Interval(late.median - rest, late.low - rest, late.high - rest)


def _others(kernel: str, bits: int, latency: Mapping[Key, Interval]) -> float | None:
    """What a sum takes where a product needs it, a load where it is real; None elsewhere."""
    if kernel == "load":
        both, across = latency.get(("load-across", LANE_BITS)), latency.get(("across", LANE_BITS))
        return both.low - across.low / 2 if both and across else None
    return _to_others(bits, latency) if kernel == "add" else None


def _to_others(bits: int, latency: Mapping[Key, Interval]) -> float | None:
    """What a sum takes where a product needs it; None if that is not longer."""
    both, product = latency.get(("add-then-multiply", bits)), latency.get(("multiply", bits))
    own = latency.get(("add", bits))
    if both is None or product is None or own is None:
        return None
    rest = both.low - product.low
    return rest if rest > own.low * (1 + WHOLE_ERROR) else None


def joined_pairs(found: Iterable[Reading]) -> list[Pair]:
    """The pairs of instructions that are issued as one: a round takes a place less than it has.

    Each launch is compared with what it could issue itself, whatever a neighbour took.
    """
    cycles: dict[str, dict[int, float]] = {}
    for one in found:
        if one.pattern == UNIT:
            cycles.setdefault(_key(one)[0], {})[one.launch] = least_cycles(one)
    issue = cycles.get("issue", {})
    places = {
        kernel: [
            cycles[kernel][launch] / issue[launch] for launch in cycles[kernel] if launch in issue
        ]
        for kernel in PAIRS
        if kernel in cycles
    }
    return [PAIRS[kernel] for kernel, known in places.items() if known and median(known) < PLACES]


def window(found: Iterable[Reading], issue_per_cycle: float) -> float | None:
    """How many instructions are under way at a time.

    A round is a chain of quotients and instructions that leave after it. Where n chains overlap,
    the chain n rounds later begins when the first has ended and as many have entered as the window
    had no room for. Another thread of the core takes half of the room, so the quickest launch
    counts.
    """
    cycles = _round_and_chain_cycles(found, "window")
    if cycles is None:
        return None
    round_cycles, chain_cycles = cycles
    instructions = _instructions("window")
    chains = max(1, int((chain_cycles + instructions / issue_per_cycle) / round_cycles))
    entered_later = issue_per_cycle * max(0.0, chains * round_cycles - chain_cycles)
    return max(QUOTIENTS, chains * instructions - QUOTIENTS - entered_later)


def waiting(found: Iterable[Reading]) -> float | None:
    """How many instructions wait for operands at a time.

    A round is a chain of quotients and instructions that wait for its end. Where n chains overlap,
    a round takes an nth of a chain: n - 1 rounds and the next chain wait.
    """
    cycles = _round_and_chain_cycles(found, "waiting")
    if cycles is None:
        return None
    chains = max(1.0, cycles[1] / cycles[0])
    return (chains - 1) * _instructions("waiting") + QUOTIENTS


def _instructions(kernel: str) -> int:
    """Those of a round."""
    return 1 + QUOTIENTS + AFTER[kernel]


def _round_and_chain_cycles(found: Iterable[Reading], kernel: str) -> tuple[float, float] | None:
    """Of a round, and of its chain of quotients alone."""
    late = _latencies([one for one in found if one.pattern == UNIT])
    round_, quotient = late.get((kernel, LANE_BITS)), late.get(("divide", LANE_BITS))
    return (round_.low, QUOTIENTS * quotient.low) if round_ and quotient else None


def scaled(one: Interval, factor: float) -> Interval:
    """This many times as much."""
    return Interval(factor * one.median, factor * one.low, factor * one.high)


def single(found: Iterable[Reading], kernel: str, *, latency: bool = False) -> Interval | None:
    """What one kernel without its own width does in a cycle, or its latency in cycles."""
    units = [one for one in found if one.pattern == UNIT]
    every = _latencies(units) if latency else _per_cycle(units)
    return next((value for (name, _), value in every.items() if name == kernel), None)


def together(found: Iterable[Reading]) -> list[Unit]:
    """What sums and products share, and loads and stores of real and of whole numbers."""
    rates = _per_cycle([one for one in found if one.pattern == UNIT])
    units = [_arithmetic(rates), *(_accesses(rates, *each) for each in ACCESSES)]
    return [unit for unit in units if unit]


def _arithmetic(rates: Mapping[Key, Interval]) -> Unit | None:
    """No more sums and products begin in a cycle together than of a mixture."""
    cycles: dict[str, float] = {}
    for (kernel, bits), rate in sorted(rates.items()):
        if kernel != TOGETHER:
            continue
        keys = [_unit_key(other, bits) for other in SHARING if (other, bits) in rates]
        # This many at least: no neighbour makes a unit faster.
        whole = math.ceil(rate.high * (1 - WHOLE_ERROR / 5))
        cycles |= dict.fromkeys(keys, 1 / whole)
    return Unit(name="arithmetic", kind="floating_point", cycles=cycles) if cycles else None


def _accesses(rates: Mapping[Key, Interval], name: str, real: str, whole: str) -> Unit | None:
    """Accesses of both kinds take turns: no more in a cycle than of the kind that is quicker."""
    if (whole, LANE_BITS) not in rates:
        return None
    known = {key: rate.high for key, rate in rates.items() if key[0] in (real, whole)}
    quickest = max(known.values())
    keys = [_unit_key(kernel, bits) for kernel, bits in sorted(known)]
    return Unit(name=name, kind="memory", cycles=dict.fromkeys(keys, 1 / quickest))


def _unit_key(kernel: str, bits: int) -> str:
    return key_of(NAMES[kernel], max(1, bits // LANE_BITS))


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
        key: Interval(_rate(_quick(slow[key])), min(slow[key]), _most(_quick(quick[key])))
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


def _most(per_cycle: float) -> float:
    """What a unit with such a rate may do in a cycle: a whole number where it is several."""
    rate = _rate(per_cycle)
    return rate if per_cycle < 1 else max(rate, math.ceil(per_cycle * (1 - WHOLE_ERROR / 5)))


def _whole(cycles: float) -> float:
    """The whole number of cycles that a measurement lies next to, or what it is."""
    whole = round(cycles)
    return float(whole) if whole and abs(cycles - whole) < _error_cycles(cycles) else cycles


def _error_cycles(cycles: float) -> float:
    """By so much the length of a cycle, too, may be wrong on a busy machine."""
    return max(WHOLE_ERROR, CLOCK_ERROR * cycles)


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
