"""Throughput and latency of a core's execution units, as operations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from nhalf.machines.processor import Name, Pair, ProcessorOperation, Unit, key_of
from nhalf.node.reading import UNIT, Reading
from nhalf.node.unit_doubts import Key, RateDoubt, quickest, rate_doubts
from nhalf.statistics.intervals import Interval

NAMES: dict[str, Name] = {
    "add": "add",
    "multiply": "multiply",
    "fused": "fused_multiply_add",
    "divide": "divide",
    "root-times": "square_root",
    "load": "load",
    "store": "store",
    "whole-load": "integer_load",
    "whole-store": "integer_store",
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
    "store-apart": "line_change_store",
}
"""Operations by the probe's kernels; a root is multiplied, so that it stays a number."""
ROUND_TRIPS = ("convert", "across")
"""Kernels that move a value there and back: the probe counts two operations as one."""
PAIRS: dict[str, Pair] = {
    "move-then-sum": "move",
    "whole-move-then-sum": "integer_move",
    "whole-load-then-sum": "integer_load",
}
FUSED_SLOTS_MAX = 3.6
"""A round of such a kernel takes 4 issue slots, or 3 if two instructions are fused."""
FORMER_ROUNDS = {"window": (20, 421), "waiting": (20, 41)}
"""Divisions and instructions of a round in runs of versions whose probe does not say them."""
CHOICE_CYCLES = 1.0
"""Latency of the conditional move of integers after a comparison."""
TOGETHER = "add-multiply"
"""The kernel that alternates additions and multiplications."""
SHARING = ("add", "multiply", "fused")
"""Kernels that may share a unit, as that of TOGETHER shows."""
LANE_BITS = 64
CLOCK_ERROR = 0.03
INTEGER_ERROR = 0.15
"""A measured rate or latency within this relative error of an integer is taken as that integer."""

ACCESSES = (("loads", "load", "whole-load"), ("stores", "store", "whole-store"))
"""Units that accesses share, with their kernels of floating-point numbers and of integers."""


def operations(
    readings: Sequence[Reading], hit_cycles: float | None = None
) -> list[ProcessorOperation]:
    """Every operation that was measured, by width: throughput per cycle, and latency in cycles.

    `hit_cycles` is the latency of a load that hits the nearest cache.
    """
    per_cycle = _per_cycle(readings)
    latency = _latencies(readings)
    doubts = doubtful(readings)
    described = []
    for (kernel, bits), rate in sorted(per_cycle.items(), key=lambda item: (item[0][1], item[0])):
        if kernel not in NAMES:
            continue
        delay = _alone(kernel, bits, latency)
        doubt = doubts.get((kernel, bits))
        if doubt:
            most = doubt.most_per_cycle
            rate = Interval(min(rate.median, most), min(rate.low, most), most)
        if kernel in ROUND_TRIPS:
            rate = scaled(rate, 2.0)
        described.append(
            ProcessorOperation(
                name=NAMES[kernel],
                lanes=max(1, bits // LANE_BITS),
                per_cycle=rate.median,
                per_cycle_ci=(rate.low, rate.high),
                latency_cycles=hit_cycles if kernel == "load" else delay.median if delay else None,
                latency_ci=(delay.low, delay.high) if delay else None,
                latency_to_others_cycles=_latency_to_others(kernel, bits, latency),
                doubt=doubt.reason if doubt else None,
            )
        )
    return described


def doubtful(readings: Iterable[Reading]) -> dict[Key, RateDoubt]:
    """The kernels and widths whose rates are doubtful."""
    by_key: dict[Key, list[Reading]] = {}
    for reading in readings:
        if reading.pattern == UNIT and reading.axis("chains") > 1:
            by_key.setdefault(_key(reading), []).append(reading)
    return rate_doubts(
        _per_cycle([reading for launches in by_key.values() for reading in launches]),
        {key: [1 / reading.cycles for reading in launches] for key, launches in by_key.items()},
        {key: any(reading.was_alone for reading in launches) for key, launches in by_key.items()},
    )


def _alone(kernel: str, bits: int, latency: Mapping[Key, Interval]) -> Interval | None:
    """The latency of an operation without the other operations of its kernel."""
    if kernel == "compare":
        return _comparison_latency(latency)
    delay = latency.get((kernel, bits))
    if delay is None:
        return None
    if kernel == "root-times":
        # Two dependent operations: the second is a multiplication.
        second = latency.get(("multiply", bits))
        if second is None:
            return None
        return Interval(
            delay.median - second.median, delay.low - second.high, max(delay.high - second.low, 0.0)
        )
    return scaled(delay, 0.5) if kernel in ROUND_TRIPS else delay


def _comparison_latency(latency: Mapping[Key, Interval]) -> Interval | None:
    """The latency of a comparison, without the conditional move and the move between registers."""
    total, across = (latency.get((kernel, LANE_BITS)) for kernel in ("compare-across", "across"))
    if total is None or across is None:
        return None
    other_cycles = across.median / 2 + CHOICE_CYCLES
    return Interval(
        total.median - other_cycles, total.low - other_cycles, total.high - other_cycles
    )


def _latency_to_others(kernel: str, bits: int, latency: Mapping[Key, Interval]) -> float | None:
    """Latency to operations of another kind: an addition to a multiplication, a load of a
    floating-point number to its use; None for other kernels.
    """
    if kernel == "load":
        with_across = latency.get(("load-across", LANE_BITS))
        across = latency.get(("across", LANE_BITS))
        return with_across.low - across.low / 2 if with_across and across else None
    return _multiply_after_add(bits, latency) if kernel == "add" else None


def _multiply_after_add(bits: int, latency: Mapping[Key, Interval]) -> float | None:
    """The latency of an addition to a multiplication; None if that is not longer."""
    pair, multiply = latency.get(("add-then-multiply", bits)), latency.get(("multiply", bits))
    add = latency.get(("add", bits))
    if pair is None or multiply is None or add is None:
        return None
    remaining = pair.low - multiply.low
    return remaining if remaining > add.low * (1 + INTEGER_ERROR) else None


def fused_pairs(readings: Iterable[Reading]) -> list[Pair]:
    """The pairs of instructions that are fused: a round takes one issue slot less.

    Each launch is compared with its own issue rate, which a neighbour may have reduced.
    """
    cycles: dict[str, dict[int, float]] = {}
    for reading in readings:
        if reading.pattern == UNIT:
            cycles.setdefault(_key(reading)[0], {})[reading.launch] = reading.least_cycles
    issue = cycles.get("issue", {})
    slots_by_kernel = {
        kernel: [
            cycles[kernel][launch] / issue[launch] for launch in cycles[kernel] if launch in issue
        ]
        for kernel in PAIRS
        if kernel in cycles
    }
    return [
        PAIRS[kernel]
        for kernel, slots in slots_by_kernel.items()
        if slots and median(slots) < FUSED_SLOTS_MAX
    ]


def reorder_buffer_instructions(
    readings: Sequence[Reading], issue_per_cycle: float
) -> float | None:
    """The capacity of the reorder buffer: instructions that are in flight at a time.

    A round is a chain of divisions and instructions that retire after it. If n chains overlap, the
    chain n rounds later begins when the first has ended and the instructions have been issued that
    did not fit into the buffer. Another thread of the core takes half of the buffer, so the fastest
    launch counts.
    """
    rounds = _rounds(readings, "window")
    if rounds is None:
        return None
    overlaps = (rounds.chain_cycles + rounds.instructions / issue_per_cycle) / rounds.cycles
    chains = max(1, int(overlaps))
    entered_later = issue_per_cycle * max(0.0, chains * rounds.cycles - rounds.chain_cycles)
    divisions = rounds.divisions
    return max(divisions, chains * rounds.instructions - divisions - entered_later)


def scheduler_instructions(readings: Sequence[Reading]) -> float | None:
    """The capacity of the scheduler: instructions that wait for their operands at a time.

    A round is a chain of divisions and instructions that wait for its end. If n chains overlap, a
    round takes an nth of a chain: n - 1 rounds and the next chain wait.
    """
    rounds = _rounds(readings, "waiting")
    if rounds is None:
        return None
    chains = max(1.0, rounds.chain_cycles / rounds.cycles)
    return (chains - 1) * rounds.instructions + rounds.divisions


@dataclass(frozen=True)
class Rounds:
    """Rounds that overlap: their cycles, those of a chain of divisions alone, and their content."""

    cycles: float
    chain_cycles: float
    divisions: int
    instructions: int


def _rounds(readings: Sequence[Reading], kernel: str) -> Rounds | None:
    """The rounds of a kernel, in the fastest launch; None if it or a division was not timed."""
    latencies = _latencies(readings)
    cycles, division = latencies.get((kernel, LANE_BITS)), latencies.get(("divide", LANE_BITS))
    if cycles is None or division is None:
        return None
    timed = next(reading for reading in readings if _key(reading)[0] == kernel)
    divisions = int(timed.value("chain_divisions") or FORMER_ROUNDS[kernel][0])
    instructions = int(timed.value("round_instructions") or FORMER_ROUNDS[kernel][1])
    return Rounds(cycles.low, divisions * division.low, divisions, instructions)


def scaled(interval: Interval, factor: float) -> Interval:
    """An interval multiplied by a factor."""
    return Interval(factor * interval.median, factor * interval.low, factor * interval.high)


def single(readings: Iterable[Reading], kernel: str, *, latency: bool = False) -> Interval | None:
    """The throughput per cycle of a kernel that has one width only, or its latency in cycles."""
    intervals = _latencies(readings) if latency else _per_cycle(readings)
    return next((value for (name, _), value in intervals.items() if name == kernel), None)


def together(readings: Iterable[Reading]) -> list[Unit]:
    """The units shared by additions and multiplications, by loads, and by stores."""
    rates = _per_cycle(readings)
    units = [_arithmetic(rates), *(_accesses(rates, *accesses) for accesses in ACCESSES)]
    return [unit for unit in units if unit]


def _arithmetic(rates: Mapping[Key, Interval]) -> Unit | None:
    """The unit of additions and multiplications: it begins as many in a cycle as of a mixture."""
    cycles: dict[str, float] = {}
    for (kernel, bits), rate in sorted(rates.items()):
        if kernel != TOGETHER:
            continue
        keys = [_unit_key(shared, bits) for shared in SHARING if (shared, bits) in rates]
        # At least the measured rate: no neighbour makes a unit faster.
        operations_per_cycle = math.ceil(rate.high * (1 - INTEGER_ERROR / 5))
        cycles |= dict.fromkeys(keys, 1 / operations_per_cycle)
    return Unit(name="arithmetic", kind="floating_point", cycles=cycles) if cycles else None


def _accesses(rates: Mapping[Key, Interval], name: str, floating: str, integer: str) -> Unit | None:
    """The unit of floating-point and integer accesses: it has the rate of the faster kind."""
    if (integer, LANE_BITS) not in rates:
        return None
    access_rates = {key: rate.high for key, rate in rates.items() if key[0] in (floating, integer)}
    quickest = max(access_rates.values())
    keys = [_unit_key(kernel, bits) for kernel, bits in sorted(access_rates)]
    return Unit(name=name, kind="memory", cycles=dict.fromkeys(keys, 1 / quickest))


def _unit_key(kernel: str, bits: int) -> str:
    return key_of(NAMES[kernel], max(1, bits // LANE_BITS))


def _cycles(
    readings: Iterable[Reading], *, of_chain: bool
) -> tuple[dict[Key, list[float]], dict[Key, list[float]]]:
    """Cycles in each launch, usual and least disturbed: of one chain, or of independent ones."""
    usual: dict[Key, list[float]] = {}
    least: dict[Key, list[float]] = {}
    for reading in readings:
        chains = reading.axis("chains")
        if reading.pattern == UNIT and (chains == 1 if of_chain else chains > 1):
            usual.setdefault(_key(reading), []).append(reading.cycles)
            least.setdefault(_key(reading), []).append(reading.least_cycles)
    return usual, least


def _quickest(cycles: Sequence[float]) -> float:
    return quickest([1 / value for value in cycles])


def _per_cycle(readings: Iterable[Reading]) -> dict[Key, Interval]:
    """Operations per cycle with several independent chains.

    Neighbours only slow a core down: the upper end is the rate of a fast launch in its least
    disturbed samples, the lower end that of the slowest launch.
    """
    usual, least = _cycles(readings, of_chain=False)
    return {
        key: Interval(
            _integer_rate(_quickest(cycles)), 1 / max(cycles), _rate_max(_quickest(least[key]))
        )
        for key, cycles in usual.items()
    }


def _latencies(readings: Iterable[Reading]) -> dict[Key, Interval]:
    """Latencies in cycles, from one dependency chain; the shortest is the lower end."""
    usual, least = _cycles(readings, of_chain=True)
    return {
        key: Interval(
            _nearest_integer(1 / _quickest(cycles)),
            _nearest_integer(1 / _quickest(least[key])),
            max(_nearest_integer(min(cycles)), *cycles),
        )
        for key, cycles in usual.items()
    }


def _integer_rate(per_cycle: float) -> float:
    """The rate of units that begin an integer number of operations per cycle, or one in an integer
    number of cycles.

    The measured rate stays a little below it.
    """
    if per_cycle < 1 / (1 + INTEGER_ERROR):
        return 1 / _nearest_integer(1 / per_cycle)
    integer = math.ceil(per_cycle * (1 - INTEGER_ERROR / 5))
    return integer if per_cycle > integer * (1 - INTEGER_ERROR) else per_cycle


def _rate_max(per_cycle: float) -> float:
    """The upper end of a unit's rate per cycle: an integer if it is above one."""
    rate = _integer_rate(per_cycle)
    return rate if per_cycle < 1 else max(rate, math.ceil(per_cycle * (1 - INTEGER_ERROR / 5)))


def _nearest_integer(cycles: float) -> float:
    """The integer number of cycles nearest to a measurement, or the measurement if none is near."""
    integer = round(cycles)
    # On a busy machine the length of a cycle may be wrong as well.
    error_cycles = max(INTEGER_ERROR, CLOCK_ERROR * cycles)
    return float(integer) if integer and abs(cycles - integer) < error_cycles else cycles


def _key(reading: Reading) -> Key:
    kernel = next((text for name, text in reading.axes if name == "operation"), "")
    return kernel, reading.axis("bits")
