"""A core that executes instructions out of order, as soon as operands and a unit are ready.

Instructions issue in order, `issue_per_cycle` a cycle; each begins when its operands are ready,
through registers, flags and memory, and a unit is free; they retire in order, and the reorder
buffer and the scheduler limit how many are in flight. Branches are predicted, and loads hit the
first-level cache unless the trace marks them as misses, so the result is a lower bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from nhalf.loops.listing.decoded import Decoded
from nhalf.loops.schedule.tracing import Executed
from nhalf.machines.processor import Processor

MANY = 1024
"""Instructions in flight, where that was not measured: fewer would take longer."""
GRANULE_BYTES = 8
ROUNDED = 1.0001
LINE_BYTES = 64
SHARED_CYCLES = 16.0
"""Cycles over which a unit that several operations share, or that takes wide ones in parts, may put
them in any order: what uses one of its parts only is not kept from it by what could go elsewhere.
"""
ACCESSES = ("load", "store", "integer_load", "integer_store")
LOADS = "loads"
INTEGER_LOADS = ("integer_load", LOADS)
STORES_IN_FLIGHT = 32
"""What was stored this many stores ago is in the cache."""
NEVER = (-STORES_IN_FLIGHT, 0.0)


@dataclass(frozen=True)
class LineCosts:
    """Cycles for a store to another line than the one before, and for lines of the next cache."""

    line_change_cycles: float = 0.0
    hit_cycles: float = 0.0
    load_cycles: float = 0.0
    store_cycles: float = 0.0

    @classmethod
    def of(cls, processor: Processor) -> LineCosts:
        """The costs that a processor describes; 0 for what is unknown."""
        line_change = processor.operation("line_change_store")
        next_cache = processor.caches[1] if len(processor.caches) > 1 else None
        return cls(
            1 / line_change.most_per_cycle if line_change else 0.0,
            (next_cache.hit_cycles if next_cache else None) or 0.0,
            (next_cache.load_line_cycles if next_cache else None) or 0.0,
            (next_cache.store_line_cycles if next_cache else None) or 0.0,
        )


class IssueSlots:
    """Slots of one kind in which operations begin; later operations may fill earlier gaps."""

    def __init__(self, slot_cycles: float) -> None:
        self.slot_cycles = slot_cycles
        self.used_shares: dict[int, float] = {}
        self.next_after_full: dict[int, int] = {}

    def free_from(self, slot: int, share: float) -> int:
        """The first slot, from `slot` on, of which this share is free."""
        while True:
            first = slot
            while slot in self.next_after_full:
                slot = self.next_after_full[slot]
            if slot != first:
                self.next_after_full[first] = slot
            if self.used_shares.get(slot, 0.0) + share < ROUNDED:
                return slot
            slot += 1

    def reserve(self, slot: int, share: float) -> None:
        """Use this share of a slot for one more operation."""
        used = self.used_shares.get(slot, 0.0) + share
        self.used_shares[slot] = used
        if used > 2 - ROUNDED:
            self.next_after_full[slot] = slot + 1


class Core:
    """One core at work; `retired_cycle` is when the last instruction retired.

    By register, `ready_cycles` is when its value can be used by an addition, and
    `non_add_delays_cycles` how much later other operations can use the result of an addition.
    `reorder_buffer` has the cycles in which instructions in flight retire, `scheduler` those in
    which instructions that wait for operands begin. `store_buffer` has, by granule of memory, when
    its last value was stored and through which operand.
    """

    def __init__(self, processor: Processor) -> None:
        load = processor.operation("load")
        self.integer_hit_cycles = (load.latency_cycles if load else None) or 0.0
        self.floating_point_hit_cycles = (
            load.latency_to_others_cycles if load else None
        ) or self.integer_hit_cycles
        forward_cycles = processor.store_forward_cycles or 0.0
        integer_forward_cycles = processor.integer_store_forward_cycles
        self.forward_cycles = forward_cycles
        self.integer_forward_cycles = (
            forward_cycles if integer_forward_cycles is None else integer_forward_cycles
        )
        self.line_bytes = processor.caches[0].line_bytes if processor.caches else LINE_BYTES
        self.line_costs = LineCosts.of(processor)
        self.last_stored_line = -1
        self.issue_slot_cycles = 1 / processor.issue_per_cycle
        branch = processor.operation("taken_branch")
        self.taken_branch_cycles = 1 / branch.most_per_cycle if branch else 0.0
        self.issued_cycle = 0.0
        self.branched_cycle = 0.0
        self.retired_cycle = 0.0
        reorder_buffer_size = round(processor.reorder_buffer_instructions or MANY)
        self.reorder_buffer: deque[float] = deque([0.0] * reorder_buffer_size, reorder_buffer_size)
        self.scheduler_size = round(processor.scheduler_instructions or MANY)
        self.scheduler: list[float] = []
        self.ready_cycles: dict[str, float] = {}
        self.non_add_delays_cycles: dict[str, float] = {}
        self.store_buffer: dict[int, tuple[float, str]] = {}
        self.forwarded_load_cycles = processor.forwarded_cycles("forwarded_load")
        self.updated_load_cycles = processor.forwarded_cycles("updated_load")
        self.store_count = 0
        self.last_stores: dict[int, tuple[int, float]] = {}
        self.shared_units = {*ACCESSES, *(unit.name for unit in processor.units)}
        self.units: dict[str, IssueSlots] = {}

    def run(self, trace: Iterable[Executed], instructions: Sequence[Decoded]) -> None:
        """Execute a trace after what was executed before."""
        last = -1
        for number, address, missed in trace:
            if last >= 0 and instructions[last].is_jump and number != last + 1:
                self.issued_cycle = max(
                    self.issued_cycle, self.branched_cycle + self.taken_branch_cycles
                )
                self.branched_cycle = self.issued_cycle
            self._execute(instructions[number], address, missed)
            last = number

    def _execute(self, instruction: Decoded, address: int, missed: int) -> None:
        """Issue, execute and retire one instruction."""
        issued = max(self.issued_cycle, self.reorder_buffer[0])
        if instruction.uses_scheduler:
            issued = self._scheduler_free_from(issued)
        slots_cycles = instruction.issue_slots * self.issue_slot_cycles
        self.issued_cycle = issued + slots_cycles + instruction.call_cycles
        ready = self._ready(instruction.value_registers, issued, instruction.is_add)
        if instruction.load_address:
            loaded = self._loaded(instruction, address, issued)
            ready = max(ready, loaded + self._miss_cycles(instruction, missed))
        busy_cycles = (
            self._access_cycles(instruction, address, missed)
            if address
            else instruction.busy_cycles
        )
        begin = self._begin(busy_cycles, ready) if busy_cycles else ready
        if address % self.line_bytes + instruction.size_bytes > self.line_bytes:
            self._access_next_line(instruction.line_split_cycles, begin)
        if instruction.uses_scheduler:
            heappush(self.scheduler, begin)
        finished = begin + instruction.latency_cycles
        if instruction.is_copy:
            self._rename(instruction)
        else:
            for register in instruction.results:
                self.ready_cycles[register] = finished
                self.non_add_delays_cycles[register] = instruction.non_add_delay_cycles
        if instruction.store_address:
            self._store(instruction, address, finished + instruction.non_add_delay_cycles)
        self.retired_cycle = max(self.retired_cycle, finished)
        self.reorder_buffer.append(self.retired_cycle)

    def _rename(self, instruction: Decoded) -> None:
        """Make the result another name of the same register: no unit executes such a move."""
        (source,), (target,) = instruction.value_registers, instruction.results
        self.ready_cycles[target] = self.ready_cycles.get(source, 0.0)
        self.non_add_delays_cycles[target] = self.non_add_delays_cycles.get(source, 0.0)

    def _scheduler_free_from(self, cycle: float) -> float:
        """The first cycle, from this one on, in which the scheduler has a free entry."""
        scheduler = self.scheduler
        while scheduler and scheduler[0] <= cycle:
            heappop(scheduler)
        return heappop(scheduler) if len(scheduler) >= self.scheduler_size else cycle

    def _ready(self, registers: Iterable[str], since: float, is_add: bool = False) -> float:
        """The cycle in which all of these registers are ready, not before `since`."""
        ready_cycles, delays_cycles = self.ready_cycles, self.non_add_delays_cycles
        for register in registers:
            if register in ready_cycles:
                delay = 0.0 if is_add else delays_cycles[register]
                since = max(since, ready_cycles[register] + delay)
        return since

    def _miss_cycles(self, instruction: Decoded, missed: int) -> float:
        """How much longer a load takes that misses the nearest cache."""
        if not missed or instruction.store_address:
            return 0.0
        return self.line_costs.hit_cycles - self.integer_hit_cycles

    def _access_cycles(
        self, instruction: Decoded, address: int, missed: int
    ) -> list[tuple[str, float]]:
        """Cycles by unit that an access to memory keeps it busy."""
        busy_cycles: Iterable[tuple[str, float]] = instruction.busy_cycles
        forwarded_cycles = self._forwarded_cycles(instruction, address)
        if forwarded_cycles:
            without_load = (pair for pair in busy_cycles if pair[0] not in INTEGER_LOADS)
            busy_cycles = (*without_load, (LOADS, forwarded_cycles))
        return [*busy_cycles, *self._line_cycles(instruction, address, missed)]

    def _forwarded_cycles(self, instruction: Decoded, address: int) -> float:
        """Cycles of an integer load whose store is still in flight; 0 for every other access."""
        if not instruction.load_address or not instruction.is_integer:
            return 0.0
        last_store, cycles = self.last_stores.get(address // GRANULE_BYTES, NEVER)
        return cycles if self.store_count - last_store < STORES_IN_FLIGHT else 0.0

    def _line_cycles(
        self, instruction: Decoded, address: int, missed: int
    ) -> list[tuple[str, float]]:
        """Cycles for lines: of a store to another line than the one before, and of misses."""
        line = address // self.line_bytes
        cycles_by_unit = []
        if instruction.store_address:
            if line != self.last_stored_line:
                cycles_by_unit.append(("stored lines", self.line_costs.line_change_cycles))
            self.last_stored_line = line
        if missed:
            costs = self.line_costs
            cycles = costs.store_cycles if instruction.store_address else costs.load_cycles
            cycles_by_unit.append(("lines", missed * cycles))
        return [(unit, cycles) for unit, cycles in cycles_by_unit if cycles]

    def _loaded(self, instruction: Decoded, address: int, issued: float) -> float:
        """The cycle in which a loaded value can be used."""
        is_integer = instruction.is_integer
        latency_cycles = self.integer_hit_cycles if is_integer else self.floating_point_hit_cycles
        usable = self._ready(instruction.address_registers, issued) + latency_cycles
        for granule in _granules(instruction, address):
            if address and granule in self.store_buffer:
                stored, operand = self.store_buffer[granule]
                is_same = is_integer and operand == instruction.load_address
                forward_cycles = self.integer_forward_cycles if is_same else self.forward_cycles
                if is_same and not forward_cycles:
                    usable = max(issued, stored)
                else:
                    usable = max(usable, stored + forward_cycles)
        return usable

    def _store(self, instruction: Decoded, address: int, stored: float) -> None:
        """Put a value into the store buffer in the cycle `stored`."""
        self.store_count += 1
        is_update = bool(instruction.load_address)
        load_cycles = self.updated_load_cycles if is_update else self.forwarded_load_cycles
        self.last_stores[address // GRANULE_BYTES] = (self.store_count, load_cycles)
        operand = instruction.store_address if instruction.is_integer else ""
        for granule in _granules(instruction, address):
            self.store_buffer[granule] = (stored, operand)

    def _begin(self, busy_cycles: Sequence[tuple[str, float]], ready: float) -> float:
        """Reserve all units in the first cycle from `ready` on that all have free; return it."""
        units = [self._unit(name, cycles) for name, cycles in busy_cycles]
        begin, before = ready, -1.0
        while before != begin:
            before = begin
            for unit, share in units:
                slot = int(begin // unit.slot_cycles)
                free_slot = unit.free_from(slot, share)
                if free_slot > slot:
                    begin = free_slot * unit.slot_cycles
        for unit, share in units:
            unit.reserve(int(begin // unit.slot_cycles), share)
        return begin

    def _access_next_line(self, busy_cycles: Sequence[tuple[str, float]], since: float) -> None:
        """Reserve the second access of one that crosses a line, as soon as its units are free."""
        for unit, share in (self._unit(name, cycles) for name, cycles in busy_cycles):
            unit.reserve(unit.free_from(int(since // unit.slot_cycles), share), share)

    def _unit(self, name: str, cycles: float) -> tuple[IssueSlots, float]:
        """The unit, and the share of one of its slots; whatever takes long has slots of its own."""
        slot_cycles = max(SHARED_CYCLES if name in self.shared_units else 1.0, cycles)
        key = name if cycles <= 1 else f"{name} {cycles}"
        if key not in self.units:
            self.units[key] = IssueSlots(slot_cycles)
        return self.units[key], cycles / slot_cycles


def _granules(instruction: Decoded, address: int) -> range:
    """The granules of memory that an access reads or writes."""
    first = address // GRANULE_BYTES
    return range(first, first + max(1, instruction.size_bytes // GRANULE_BYTES))
