# SPDX-License-Identifier: Apache-2.0
"""The bound of a loop: what the busiest unit of a processor takes for what is essential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nhalf.machines.processor import Processor
from nhalf.node.bound.counts import Counts
from nhalf.node.bound.misses import misses, stride_elements

FLOATING_POINT = ("add", "multiply", "fused_multiply_add", "divide", "square_root")


@dataclass(frozen=True)
class Bound:
    """Cycles per iteration that each unit of a processor takes at least."""

    counts: Counts
    floating_point_cycles: float
    memory_cycles: float
    issue_cycles: float
    dependence_cycles: float
    fixed_point_cycles: float
    clock_hz: float

    @property
    def by_unit(self) -> dict[str, float]:
        """The cycles of each unit by its short name, as JSON has it."""
        return {
            "fp": self.floating_point_cycles,
            "mem": self.memory_cycles,
            "issue": self.issue_cycles,
            "dep": self.dependence_cycles,
            "fixed": self.fixed_point_cycles,
        }

    @property
    def cycles(self) -> float:
        """What an iteration takes at least."""
        return max(self.by_unit.values())

    @property
    def limits(self) -> tuple[str, ...]:
        """The units that take longest: several where they take the same."""
        return tuple(
            name for name, cycles in self.by_unit.items() if cycles >= self.cycles * (1 - 1e-9)
        )

    @property
    def cycles_per_flop(self) -> float | None:
        """Cycles per floating-point operation; None if there is none."""
        return self.cycles / self.counts.flops if self.counts.flops else None

    @property
    def flops_per_s(self) -> float:
        """The rate that it bounds."""
        return self.clock_hz * self.counts.flops / self.cycles if self.cycles else 0.0


def bound(counts: Counts, processor: Processor, quad_word: bool | None = None) -> Bound:
    """The bound of a loop on a processor.

    Products are fused with sums where the processor can. Where a program may do without, each
    unit gets the smaller time of both ways. `quad_word` is by default the processor's.
    """
    quad = processor.quad_word if quad_word is None else quad_word
    fused = _bound(counts, processor, True, quad)
    if processor.always_fuses:
        return fused
    apart = _bound(counts, processor, False, quad)
    return min(fused, apart, key=lambda one: one.cycles)


def _bound(counts: Counts, processor: Processor, fuses: bool, quad_word: bool) -> Bound:
    amounts = _amounts(counts, processor, fuses, quad_word)
    times = {
        kind: max(
            (_unit_cycles(unit.cycles, amounts) for unit in processor.units if unit.kind == kind),
            default=0.0,
        )
        for kind in ("floating_point", "memory", "fixed_point")
    }
    alone = {name: _alone_cycles(processor, name, amount) for name, amount in amounts.items()}
    floating_point = max(times["floating_point"], *(alone.get(n, 0.0) for n in FLOATING_POINT))
    memory = max(times["memory"], alone.get("load", 0.0), alone.get("store", 0.0))
    return Bound(
        counts,
        floating_point_cycles=floating_point,
        memory_cycles=_with_misses(counts, processor, memory),
        issue_cycles=_instructions(processor, amounts) / processor.issue_per_cycle,
        dependence_cycles=counts.chain_cycles(processor, fuses),
        fixed_point_cycles=times["fixed_point"],
        clock_hz=processor.clock_hz,
    )


def _amounts(
    counts: Counts, processor: Processor, fuses: bool, quad_word: bool
) -> dict[str, float]:
    """Operations per iteration by name, as this processor does them."""
    amounts = {name: float(counts.of(name)) for name in FLOATING_POINT}
    if not fuses or not any(one.name == "fused_multiply_add" for one in processor.operations):
        apart = amounts.pop("fused_multiply_add")
        amounts["add"] += apart
        amounts["multiply"] += apart
    for name, kind in (("load", "loads"), ("store", "stores")):
        amounts[name] = sum(
            getattr(stream, kind)
            * (0.5 if quad_word and stride_elements(stream) in {1, -1} else 1.0)
            for stream in counts.streams
        )
    return amounts


def _unit_cycles(shares: Mapping[str, float], amounts: Mapping[str, float]) -> float:
    """What a unit takes for all that it does, each in the width that suits it best."""
    best: dict[str, float] = {}
    for key, cycles in shares.items():
        name, _, lanes = key.partition(".")
        best[name] = min(best.get(name, cycles), cycles / int(lanes or 1))
    return sum(amounts.get(name, 0.0) * cycles for name, cycles in best.items())


def _alone_cycles(processor: Processor, name: str, amount: float) -> float:
    rates = [one.most_per_cycle * one.lanes for one in processor.operations if one.name == name]
    return amount / max(rates) if rates else 0.0


def _instructions(processor: Processor, amounts: Mapping[str, float]) -> float:
    widest = {
        name: max([one.lanes for one in processor.operations if one.name == name], default=1)
        for name in amounts
    }
    return sum(amount / widest[name] for name, amount in amounts.items())


def _with_misses(counts: Counts, processor: Processor, hits_cycles: float) -> float:
    """The time of the memory unit: what misses add, where nothing overlaps them."""
    first = processor.caches[0] if processor.caches else None
    if not processor.in_order or first is None:
        return hits_cycles
    found = misses(counts.streams, counts.trips, first)
    loads = found.loads_per_iteration * (first.load_miss_cycles or 0.0)
    stores = found.stores_per_iteration * (first.store_miss_cycles or 0.0)
    load, store = (processor.operation(name) for name in ("load", "store"))
    longer = loads / (load.per_cycle if load else 1.0) + stores / (store.per_cycle if store else 1)
    return max(loads + stores, hits_cycles + longer)
