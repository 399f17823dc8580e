# SPDX-License-Identifier: Apache-2.0
"""The chain of instructions that iterations hang on, through registers and through memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from nhalf.machines.processor import Processor
from nhalf.node.bound.chain import Link, slowest_circle
from nhalf.node.bound.polynomial import Polynomial
from nhalf.node.ladder.addresses import in_any_iteration, registers_in
from nhalf.node.ladder.decoded import latency_cycles
from nhalf.node.ladder.listing import EmittedLoop, Instruction
from nhalf.node.ladder.micro import arithmetic, reads_memory, writes_memory
from nhalf.node.ladder.operands import inputs, results


@dataclass
class _Steps:
    """Loads, computations and stores of one iteration, by number, and who waits for whom."""

    processor: Processor
    cycles: list[float] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    makers: dict[str, int] = field(default_factory=dict)
    early: list[tuple[str, int]] = field(default_factory=list)
    loads: list[tuple[int, Polynomial]] = field(default_factory=list)
    stores: list[tuple[int, Polynomial]] = field(default_factory=list)
    wholes: set[int] = field(default_factory=set)

    def add(self, cycles: float, reads: list[str], after: int | None = None) -> int:
        """One step that needs registers, and perhaps a step before it."""
        number = len(self.cycles)
        self.cycles.append(cycles)
        if after is not None:
            self.links.append(Link(after, number, self.cycles[after], 0))
        for one in dict.fromkeys(reads):
            if one in self.makers:
                maker = self.makers[one]
                self.links.append(Link(maker, number, self.cycles[maker], 0))
            else:
                self.early.append((one, number))
        return number

    def closed(self) -> list[Link]:
        """All links, those from one iteration to the next too."""
        found = list(self.links)
        for one, number in self.early:
            if one in self.makers:
                maker = self.makers[one]
                found.append(Link(maker, number, self.cycles[maker], 1))
        return found + list(self._through_memory())

    def _through_memory(self) -> Iterator[Link]:
        """A load of what was stored waits for the store: in this iteration or from one before."""
        hit, forward = _hit_cycles(self.processor), self.processor.store_forward_cycles or 0.0
        known = self.processor.integer_store_forward_cycles
        whole = forward if known is None else known
        for load, place in self.loads:
            distances = []
            for store, written in self.stores:
                ago = _iterations_ago(place, written)
                if ago is not None and (ago > 0 or (ago == 0 and store < load)):
                    distances.append((ago, -store))
                elif ago == 0 and not place.step().terms:
                    distances.append((1, -store))
            if distances:
                ago, store = min(distances)
                is_whole = load in self.wholes
                yield Link(-store, load, (whole if is_whole else forward) - hit, ago)


def _iterations_ago(read: Polynomial, written: Polynomial) -> int | None:
    """How many iterations before an address was written that is read now."""
    if read.is_indirect or written.is_indirect or read.step() != written.step():
        return None
    return (written - read).multiple_of(read.step())


def _hit_cycles(processor: Processor) -> float:
    load = processor.operation("load")
    return (load.latency_cycles if load else None) or 0.0


def chain_cycles(loop: EmittedLoop, processor: Processor) -> float:
    """Cycles per pass of the longest chain from one pass to the next."""
    numbers = in_any_iteration(loop)
    steps = _Steps(processor)
    for at, one in enumerate(loop.instructions):
        may_be_skipped = at in loop.skipped
        if not one.is_jump and not may_be_skipped:
            _take(one, steps, numbers.address)
        numbers.step(one, may_be_skipped)
    return slowest_circle(steps.closed(), len(steps.cycles))


def _take(one: Instruction, steps: _Steps, address: object) -> None:
    """The steps of one instruction."""
    assert callable(address)
    source, target = reads_memory(one), writes_memory(one)
    load = None
    if source:
        load = steps.add(_hit_cycles(steps.processor), registers_in(source))
        steps.loads.append((load, address(source)))
        if not any("mm" in word for word in one.operands):
            steps.wholes.add(load)
    done = load
    if arithmetic(one) is not None or not source:
        done = steps.add(latency_cycles(one, steps.processor), inputs(one), load)
    if target:
        stored = steps.add(0.0, registers_in(target), done)
        steps.stores.append((stored, address(target)))
    elif done is not None:
        steps.makers |= dict.fromkeys(results(one), done)
