# SPDX-License-Identifier: Apache-2.0
"""A core that executes instructions as soon as their operands and a unit are there.

Instructions enter in order, this many a cycle; each begins when what it waits for is known, through
registers, flags and memory, and a unit is free; they leave in order, and only this many are under
way at a time. Branches are foreseen, and whatever is loaded is in the nearest cache: it takes at
least so long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from nhalf.machines.processor import Processor
from nhalf.node.ladder.decoded import Decoded
from nhalf.node.ladder.tracing import Executed

MANY = 1024
"""Instructions under way at a time, where that was not measured: fewer would take longer."""
GRANULE_BYTES = 8
ROUNDED = 1.0001
LINE_BYTES = 64
SHARED_CYCLES = 16.0
"""Cycles over which a unit that several operations share, or that takes wide ones in parts, may put
them in any order: what uses one of its parts only is not kept from it by what could go elsewhere.
"""
ACCESSES = ("load", "store", "whole_load", "whole_store")
LOADS = "loads"
WHOLE_LOADS = ("whole_load", LOADS)
STORES_UNDER_WAY = 32
"""What was stored this many stores ago is in the cache."""
NEVER = (-STORES_UNDER_WAY, 0.0)


@dataclass(frozen=True)
class Behind:
    """What lines cost: another one than that of the store before, and those of the next cache."""

    apart_cycles: float = 0.0
    hit_cycles: float = 0.0
    load_cycles: float = 0.0
    store_cycles: float = 0.0

    @classmethod
    def of(cls, processor: Processor) -> Behind:
        """As described; nothing for what is unknown."""
        apart = processor.operation("store_apart")
        behind = processor.caches[1] if len(processor.caches) > 1 else None
        return cls(
            1 / apart.most_per_cycle if apart else 0.0,
            (behind.hit_cycles if behind else None) or 0.0,
            (behind.load_line_cycles if behind else None) or 0.0,
            (behind.store_line_cycles if behind else None) or 0.0,
        )


class Unit:
    """Slots of one kind in which operations begin; later ones may take what is left before."""

    def __init__(self, slot_cycles: float) -> None:
        self.slot_cycles = slot_cycles
        self.used: dict[int, float] = {}
        self.full: dict[int, int] = {}

    def free_from(self, slot: int, share: float) -> int:
        """The first slot from one on that has room for a share of it."""
        while True:
            begin = slot
            while slot in self.full:
                slot = self.full[slot]
            if slot != begin:
                self.full[begin] = slot
            if self.used.get(slot, 0.0) + share < ROUNDED:
                return slot
            slot += 1

    def take(self, slot: int, share: float) -> None:
        """One more operation in a slot."""
        used = self.used.get(slot, 0.0) + share
        self.used[slot] = used
        if used > 2 - ROUNDED:
            self.full[slot] = slot + 1


class Core:
    """One core at work; `ended` is when the last instruction left, in cycles."""

    def __init__(self, processor: Processor) -> None:
        load = processor.operation("load")
        self.hit_cycles = (load.latency_cycles if load else None) or 0.0
        self.real_hit_cycles = (load.latency_to_others_cycles if load else None) or self.hit_cycles
        forward = processor.store_forward_cycles or 0.0
        whole = processor.integer_store_forward_cycles
        self.forward_cycles = forward
        self.whole_forward_cycles = forward if whole is None else whole
        self.line_bytes = processor.caches[0].line_bytes if processor.caches else LINE_BYTES
        self.behind = Behind.of(processor)
        self.stored_line = -1
        self.slot_cycles = 1 / processor.issue_per_cycle
        branch = processor.operation("taken_branch")
        self.branch_cycles = 1 / branch.most_per_cycle if branch else 0.0
        self.entered = 0.0
        self.branched = 0.0
        self.ended = 0.0
        window = round(processor.window_instructions or MANY)
        self.leaving: deque[float] = deque([0.0] * window, window)
        self.room = round(processor.waiting_instructions or MANY)
        self.waiting: list[float] = []
        self.known: dict[str, float] = {}
        self.later: dict[str, float] = {}
        self.stored: dict[int, tuple[float, str]] = {}
        self.moved_cycles = processor.forwarded_cycles("forwarded_load")
        self.updated_cycles = processor.forwarded_cycles("updated_load")
        self.stores = 0
        self.forwarding: dict[int, tuple[int, float]] = {}
        self.shared = {*ACCESSES, *(unit.name for unit in processor.units)}
        self.units: dict[str, Unit] = {}

    def run(self, trace: Iterable[Executed], what: Sequence[Decoded]) -> None:
        """Execute a trace after what was executed before."""
        last = -1
        for number, address, missed in trace:
            if last >= 0 and what[last].is_jump and number != last + 1:
                self.entered = max(self.entered, self.branched + self.branch_cycles)
                self.branched = self.entered
            self._execute(what[number], address, missed)
            last = number

    def _execute(self, one: Decoded, address: int, missed: int) -> None:
        enters = max(self.entered, self.leaving[0])
        if one.waits:
            enters = self._room_from(enters)
        self.entered = enters + one.slots * self.slot_cycles + one.call_cycles
        ready = self._ready(one.value_registers, enters, one.is_sum)
        if one.loads:
            ready = max(ready, self._loaded(one, address, enters) + self._behind(one, missed))
        busy = self._busy(one, address, missed) if address else one.busy_cycles
        begins = self._begin(busy, ready) if busy else ready
        if address % self.line_bytes + one.size_bytes > self.line_bytes:
            self._go_on(one.again_cycles, begins)
        if one.waits:
            heappush(self.waiting, begins)
        done = begins + one.latency_cycles
        if one.is_copy:
            self._copy(one)
        else:
            for name in one.results:
                self.known[name] = done
                self.later[name] = one.to_others_cycles
        if one.stores:
            self._store(one, address, done + one.to_others_cycles)
        self.ended = max(self.ended, done)
        self.leaving.append(self.ended)

    def _copy(self, one: Decoded) -> None:
        """The result is another name of the same register: no unit sees such a move."""
        (source,), (target,) = one.value_registers, one.results
        self.known[target] = self.known.get(source, 0.0)
        self.later[target] = self.later.get(source, 0.0)

    def _room_from(self, enters: float) -> float:
        """When there is room for one more that waits."""
        waiting = self.waiting
        while waiting and waiting[0] <= enters:
            heappop(waiting)
        return heappop(waiting) if len(waiting) >= self.room else enters

    def _ready(self, names: Iterable[str], since: float, is_sum: bool = False) -> float:
        """When all of these registers are known."""
        known, later = self.known, self.later
        for name in names:
            if name in known:
                there = known[name] if is_sum else known[name] + later[name]
                since = max(since, there)
        return since

    def _behind(self, one: Decoded, missed: int) -> float:
        """What a load takes longer whose line is further away."""
        return self.behind.hit_cycles - self.hit_cycles if missed and not one.stores else 0.0

    def _busy(self, one: Decoded, address: int, missed: int) -> list[tuple[str, float]]:
        """What an access to memory keeps busy."""
        own: Iterable[tuple[str, float]] = one.busy_cycles
        cycles = self._forwarded_cycles(one, address)
        if cycles:
            rest = (each for each in own if each[0] not in WHOLE_LOADS)
            own = (*rest, (LOADS, cycles))
        return [*own, *self._moved(one, address, missed)]

    def _forwarded_cycles(self, one: Decoded, address: int) -> float:
        """What a whole number is loaded for whose store is still under way; 0 for all others."""
        if not one.loads or not one.is_whole:
            return 0.0
        last, cycles = self.forwarding.get(address // GRANULE_BYTES, NEVER)
        return cycles if self.stores - last < STORES_UNDER_WAY else 0.0

    def _moved(self, one: Decoded, address: int, missed: int) -> list[tuple[str, float]]:
        """What lines keep busy: stores in another line, and those further away."""
        line = address // self.line_bytes
        found = []
        if one.stores:
            if line != self.stored_line:
                found.append(("stored lines", self.behind.apart_cycles))
            self.stored_line = line
        if missed:
            cycles = self.behind.store_cycles if one.stores else self.behind.load_cycles
            found.append(("lines", missed * cycles))
        return [each for each in found if each[1]]

    def _loaded(self, one: Decoded, address: int, enters: float) -> float:
        """When a loaded value can be used."""
        latency = self.hit_cycles if one.is_whole else self.real_hit_cycles
        hit = self._ready(one.address_registers, enters) + latency
        place = address // GRANULE_BYTES
        for granule in range(place, place + max(1, one.size_bytes // GRANULE_BYTES)):
            if address and granule in self.stored:
                there, written = self.stored[granule]
                is_same = one.is_whole and written == one.loads
                later = self.whole_forward_cycles if is_same else self.forward_cycles
                hit = max(enters, there) if is_same and not later else max(hit, there + later)
        return hit

    def _store(self, one: Decoded, address: int, done: float) -> None:
        place = address // GRANULE_BYTES
        self.stores += 1
        self.forwarding[place] = (
            self.stores,
            self.updated_cycles if one.loads else self.moved_cycles,
        )
        for granule in range(place, place + max(1, one.size_bytes // GRANULE_BYTES)):
            self.stored[granule] = (done, one.stores if one.is_whole else "")

    def _begin(self, busy: Sequence[tuple[str, float]], ready: float) -> float:
        """The first moment from one on at which all units have room, which it then takes."""
        units = [self._unit(name, cycles) for name, cycles in busy]
        begins, latest = ready, -1.0
        while latest != begins:
            latest = begins
            for unit, share in units:
                slot = int(begins // unit.slot_cycles)
                free = unit.free_from(slot, share)
                if free > slot:
                    begins = free * unit.slot_cycles
        for unit, share in units:
            unit.take(int(begins // unit.slot_cycles), share)
        return begins

    def _go_on(self, busy: Sequence[tuple[str, float]], since: float) -> None:
        """Second accesses are made when there is room for them."""
        for unit, share in (self._unit(name, cycles) for name, cycles in busy):
            unit.take(unit.free_from(int(since // unit.slot_cycles), share), share)

    def _unit(self, name: str, cycles: float) -> tuple[Unit, float]:
        """The unit, and the share of one of its slots; whatever takes long has slots of its own."""
        slot_cycles = max(SHARED_CYCLES if name in self.shared else 1.0, cycles)
        key = name if cycles <= 1 else f"{name} {cycles}"
        if key not in self.units:
            self.units[key] = Unit(slot_cycles)
        return self.units[key], cycles / slot_cycles
