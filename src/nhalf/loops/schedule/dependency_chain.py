"""The dependency chain between iterations, through registers and through memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nhalf.loops.listing.addresses import in_any_iteration, registers_in
from nhalf.loops.listing.decoded import inputs, latency_cycles, results
from nhalf.loops.listing.listing import EmittedLoop, Instruction
from nhalf.loops.listing.micro_ops import (
    arithmetic,
    reads_memory,
    uses_vector_registers,
    writes_memory,
)
from nhalf.loops.source.chain import CarriedDependency, slowest_recurrence
from nhalf.loops.source.polynomial import Polynomial
from nhalf.machines.processor import Processor


@dataclass
class _Steps:
    """Loads, computations and stores of one iteration, by number, and the links between them."""

    processor: Processor
    cycles: list[float] = field(default_factory=list)
    links: list[CarriedDependency] = field(default_factory=list)
    producers: dict[str, int] = field(default_factory=dict)
    carried_reads: list[tuple[str, int]] = field(default_factory=list)
    loads: list[tuple[int, Polynomial]] = field(default_factory=list)
    stores: list[tuple[int, Polynomial]] = field(default_factory=list)
    integer_loads: set[int] = field(default_factory=set)

    def add(self, cycles: float, reads: list[str], after: int | None = None) -> int:
        """Add a step that needs registers, and perhaps the result of a step before it."""
        number = len(self.cycles)
        self.cycles.append(cycles)
        if after is not None:
            self.links.append(CarriedDependency(after, number, self.cycles[after], 0))
        for register in dict.fromkeys(reads):
            if register in self.producers:
                producer = self.producers[register]
                self.links.append(CarriedDependency(producer, number, self.cycles[producer], 0))
            else:
                self.carried_reads.append((register, number))
        return number

    def all_links(self) -> list[CarriedDependency]:
        """All links, including those from one iteration to the next."""
        links = list(self.links)
        for register, number in self.carried_reads:
            if register in self.producers:
                producer = self.producers[register]
                links.append(CarriedDependency(producer, number, self.cycles[producer], 1))
        return links + list(self._through_memory())

    def _through_memory(self) -> Iterator[CarriedDependency]:
        """Links of store-to-load forwarding, from this iteration or from an earlier one."""
        hit_cycles = _hit_cycles(self.processor)
        forward_cycles = self.processor.store_forward_cycles or 0.0
        integer_forward = self.processor.integer_store_forward_cycles
        integer_forward_cycles = forward_cycles if integer_forward is None else integer_forward
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
                is_integer = load in self.integer_loads
                forwarding_cycles = integer_forward_cycles if is_integer else forward_cycles
                yield CarriedDependency(-store, load, forwarding_cycles - hit_cycles, ago)


def _iterations_ago(read: Polynomial, written: Polynomial) -> int | None:
    """How many iterations ago the address that is read was written; None if unknown."""
    if read.is_indirect or written.is_indirect or read.step() != written.step():
        return None
    return (written - read).multiple_of(read.step())


def _hit_cycles(processor: Processor) -> float:
    load = processor.operation("load")
    return (load.latency_cycles if load else None) or 0.0


def chain_cycles(loop: EmittedLoop, processor: Processor) -> float:
    """Cycles per pass of the longest chain from one pass to the next."""
    integers = in_any_iteration(loop)
    steps = _Steps(processor)
    for position, instruction in enumerate(loop.instructions):
        may_be_skipped = position in loop.skipped
        if not instruction.is_jump and not may_be_skipped:
            _add_steps(instruction, steps, integers.address)
        integers.step(instruction, may_be_skipped)
    return slowest_recurrence(steps.all_links(), len(steps.cycles))


def _add_steps(instruction: Instruction, steps: _Steps, address: object) -> None:
    assert callable(address)
    source, target = reads_memory(instruction), writes_memory(instruction)
    load = None
    if source:
        load = steps.add(_hit_cycles(steps.processor), registers_in(source))
        steps.loads.append((load, address(source)))
        if not uses_vector_registers(instruction):
            steps.integer_loads.add(load)
    last_step = load
    if arithmetic(instruction) is not None or not source:
        last_step = steps.add(
            latency_cycles(instruction, steps.processor), inputs(instruction), load
        )
    if target:
        stored = steps.add(0.0, registers_in(target), last_step)
        steps.stores.append((stored, address(target)))
    elif last_step is not None:
        steps.producers |= dict.fromkeys(results(instruction), last_step)
