"""The bound of a loop: cycles of the busiest unit for its essential operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from nhalf.loops.source.counts import LoopCounts
from nhalf.loops.source.misses import misses, stride_elements
from nhalf.machines.processor import Processor

FLOATING_POINT = ("add", "multiply", "fused_multiply_add", "divide", "square_root")


@dataclass(frozen=True)
class Bound:
    """Fewest cycles per iteration of each unit of a processor.

    Sums and products over all iterations are regrouped; `in_order` is the bound of a program that
    keeps their order, None where that takes no longer.
    """

    counts: LoopCounts
    floating_point_cycles: float
    memory_cycles: float
    issue_cycles: float
    dependence_cycles: float
    fixed_point_cycles: float
    clock_hz: float
    in_order: Bound | None = None

    @property
    def by_unit(self) -> dict[str, float]:
        """The cycles of each unit by its short name in JSON."""
        return {
            "fp": self.floating_point_cycles,
            "mem": self.memory_cycles,
            "issue": self.issue_cycles,
            "dep": self.dependence_cycles,
            "fixed": self.fixed_point_cycles,
        }

    @property
    def cycles(self) -> float:
        """Fewest cycles of an iteration."""
        return max(self.by_unit.values())

    @property
    def limits(self) -> tuple[str, ...]:
        """The units that take longest: several if they take equally long."""
        least = self.cycles * (1 - 1e-9)
        return tuple(name for name, cycles in self.by_unit.items() if cycles >= least)

    @property
    def cycles_per_flop(self) -> float | None:
        """Cycles per floating-point operation; None if there is none."""
        return self.cycles / self.counts.flops if self.counts.flops else None

    @property
    def flops_per_s(self) -> float:
        """The highest rate of floating-point operations."""
        return self.clock_hz * self.counts.flops / self.cycles if self.cycles else 0.0


def bound(counts: LoopCounts, processor: Processor, quad_word: bool | None = None) -> Bound:
    """The bound of a loop on a processor.

    Multiply-adds are fused if the processor can. Where a program may leave them unfused, the
    faster way counts. `quad_word` is by default the processor's.
    """
    is_quad_word = processor.quad_word if quad_word is None else quad_word
    by_fusion = {
        is_fused: _amounts(counts, processor, is_fused, is_quad_word)
        for is_fused in ((True,) if processor.always_fuses else (True, False))
    }

    def fewest(chain_cycles: Callable[[Processor, bool], float]) -> Bound:
        bounds = (
            bound_of(counts, amounts, processor, chain_cycles(processor, is_fused))
            for is_fused, amounts in by_fusion.items()
        )
        return min(bounds, key=lambda candidate: candidate.cycles)

    regrouped, in_order = fewest(counts.regrouped_chain_cycles), fewest(counts.chain_cycles)
    waits = in_order.dependence_cycles > regrouped.dependence_cycles
    return replace(regrouped, in_order=in_order) if waits else regrouped


def bound_of(
    counts: LoopCounts, amounts: Mapping[str, float], processor: Processor, chain_cycles: float
) -> Bound:
    """Cycles of each unit for amounts of operations, each at its best width."""
    times = {
        kind: max(
            (_unit_cycles(unit.cycles, amounts) for unit in processor.units if unit.kind == kind),
            default=0.0,
        )
        for kind in ("floating_point", "memory", "fixed_point")
    }
    single_cycles = {
        name: _single_operation_cycles(processor, name, amount) for name, amount in amounts.items()
    }
    floating_point = max(
        times["floating_point"], *(single_cycles.get(n, 0.0) for n in FLOATING_POINT)
    )
    memory = max(times["memory"], single_cycles.get("load", 0.0), single_cycles.get("store", 0.0))
    return Bound(
        counts,
        floating_point_cycles=floating_point,
        memory_cycles=_with_misses(counts, processor, memory),
        issue_cycles=_instructions(processor, amounts) / processor.issue_per_cycle,
        dependence_cycles=chain_cycles,
        fixed_point_cycles=times["fixed_point"],
        clock_hz=processor.clock_hz,
    )


def _amounts(
    counts: LoopCounts, processor: Processor, is_fused: bool, quad_word: bool
) -> dict[str, float]:
    """Operations per iteration by name, as this processor executes them."""
    can_fuse = any(operation.name == "fused_multiply_add" for operation in processor.operations)
    operations = counts.operations.fused if is_fused and can_fuse else counts.operations.unfused
    amounts = {name: float(operations[name]) for name in FLOATING_POINT}
    if not can_fuse:
        for name in ("add", "multiply"):
            amounts[name] += amounts["fused_multiply_add"]
        del amounts["fused_multiply_add"]
    for name, kind in (("load", "loads"), ("store", "stores")):
        amounts[name] = sum(
            getattr(stream, kind)
            * (0.5 if quad_word and stride_elements(stream) in {1, -1} else 1.0)
            for stream in counts.streams
        )
    return amounts


def _unit_cycles(shares: Mapping[str, float], amounts: Mapping[str, float]) -> float:
    """Cycles of a unit for all its operations, each at its best width."""
    best: dict[str, float] = {}
    for key, cycles in shares.items():
        name, _, lanes = key.partition(".")
        best[name] = min(best.get(name, cycles), cycles / int(lanes or 1))
    return sum(amounts.get(name, 0.0) * cycles for name, cycles in best.items())


def _single_operation_cycles(processor: Processor, name: str, amount: float) -> float:
    own = (operation for operation in processor.operations if operation.name == name)
    rates = [operation.most_per_cycle * operation.lanes for operation in own]
    return amount / max(rates) if rates else 0.0


def _instructions(processor: Processor, amounts: Mapping[str, float]) -> float:
    """Instructions for amounts of operations, each at its widest."""
    widest: dict[str, int] = {}
    for operation in processor.operations:
        widest[operation.name] = max(operation.lanes, widest.get(operation.name, 1))
    return sum(amount / widest.get(name, 1) for name, amount in amounts.items())


def _with_misses(counts: LoopCounts, processor: Processor, hits_cycles: float) -> float:
    """Cycles of the memory unit, with those of misses on processors that do not overlap them.

    Where misses are known on others, lines pass while nothing else is loaded or stored, as in the
    execution-cache-memory model (G. Hager et al., 2016), and a scattered one is stored to after
    another.
    """
    cache = processor.caches[0] if processor.caches else None
    if not processor.in_order or cache is None:
        return hits_cycles + sum(
            own.loads_per_iteration * (after.load_line_cycles or 0.0)
            + (own.stores_per_iteration - own.scattered_stores_per_iteration)
            * (after.store_line_cycles or 0.0)
            + own.scattered_stores_per_iteration * (level.load_miss_cycles or 0.0)
            for own, level, after in zip(
                counts.misses, processor.caches, processor.caches[1:], strict=False
            )
        )
    loop_misses = (counts.misses or (misses(counts.streams, counts.trips, cache),))[0]
    load_misses, store_misses = loop_misses.loads_per_iteration, loop_misses.stores_per_iteration
    loads = load_misses * (cache.load_miss_cycles or 0.0)
    stores = store_misses * (cache.store_miss_cycles or 0.0)
    # What a miss adds to a hit, and a whole miss, which one unit waits for after another.
    whole = loads + stores + (load_misses + store_misses) * (cache.hit_cycles or 0.0)
    load, store = (processor.operation(name) for name in ("load", "store"))
    miss_cycles = loads / (load.per_cycle if load else 1.0)
    miss_cycles += stores / (store.per_cycle if store else 1.0)
    return max(whole, hits_cycles + miss_cycles)
