"""What a loop takes as compilers translate it that neither regroup nor vectorise (-O2), on a core
that executes out of order: its operations as they are written, and what controls the loop.
"""

from msgspec.structs import replace

from nhalf.loops.source.counts import LoopCounts
from nhalf.loops.source.ma_bounds import bound_of
from nhalf.machines.processor import Processor, ProcessorOperation

CONTROL = 3
"""Instructions that count an iteration, compare and jump."""
FORESEEN_TRIPS = 32
"""A core foresees the end of a loop that always runs so often."""
BEGIN_CYCLES, RESTART_CYCLES = 5.0, 20.0
"""The begin of a run of a loop, and after an end that was not foreseen: 15 to 20 cycles and more on
recent cores (A. Fog, The microarchitecture of Intel, AMD and VIA CPUs).
"""


def compiled_cycles(counts: LoopCounts, processor: Processor, trips: int, iterations: int) -> float:
    """Cycles of an iteration of a loop that runs `trips` times until it has all its iterations.

    Runs of a loop overlap as far as the core holds instructions of two of them, where one would
    wait for its own chain.
    """
    core = _scalar(processor)
    by_unit = bound_of(
        counts, counts.written_per_iteration, core, _chain_cycles(counts, processor, core)
    )
    instructions = sum(counts.written_per_iteration.values()) + CONTROL
    run = trips * instructions
    ahead = processor.reorder_buffer_instructions or 0.0
    share = run / (run + ahead) if iterations > trips else 1.0
    branch = processor.operation("taken_branch")
    divider = sum(
        counts.written_per_iteration.get(name, 0.0) * core.busy_cycles(name)
        for name in ("divide", "square_root")
    )
    times = (
        *(by_unit.floating_point_cycles, by_unit.memory_cycles, by_unit.fixed_point_cycles),
        *(divider, instructions / processor.issue_per_cycle, share * by_unit.dependence_cycles),
        1 / branch.per_cycle if branch else 0.0,
    )
    begin = BEGIN_CYCLES if trips <= FORESEEN_TRIPS else RESTART_CYCLES
    return max(times) + begin / trips


def _chain_cycles(counts: LoopCounts, processor: Processor, core: Processor) -> float:
    """Cycles from an iteration to the next. Additions alone follow each other sooner, and what
    passes through memory, since a store may be to the same place, is forwarded.
    """
    operations = tuple(own for own in core.operations if own.name == "add")
    additions = replace(core, operations=operations, units=())
    whole, alone = (counts.chain_cycles(own, False) for own in (core, additions))
    if whole == alone:
        whole = counts.chain_cycles(processor, False)
    forwarded = processor.store_forward_cycles or 0.0
    return whole + forwarded * counts.passes_memory


def _scalar(processor: Processor) -> Processor:
    """A processor without vectors, whose results are used by operations of another kind."""
    units = (
        replace(unit, cycles={key: own for key, own in unit.cycles.items() if "." not in key})
        for unit in processor.units
    )
    operations = (_waited_for(own) for own in processor.operations if own.lanes == 1)
    return replace(processor, operations=tuple(operations), units=tuple(units))


def _waited_for(operation: ProcessorOperation) -> ProcessorOperation:
    latency_cycles = operation.latency_to_others_cycles or operation.latency_cycles
    return replace(operation, latency_cycles=latency_cycles, latency_ci=None)
